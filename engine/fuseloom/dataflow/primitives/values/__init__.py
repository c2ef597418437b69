"""Value loads and arithmetic."""
