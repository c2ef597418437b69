"""The meaning of scalar operations, which every front end reads its own words into."""
