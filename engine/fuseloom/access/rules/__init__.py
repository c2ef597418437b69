"""Rules that rewrite terms: their language, the sets that are there, and how they are checked."""
