"""Deep fusion of dense graphs."""
