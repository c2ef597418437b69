"""Writers of levels and of values."""
