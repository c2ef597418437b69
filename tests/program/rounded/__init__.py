"""Values with bounds on what rounding to float32 may change."""
