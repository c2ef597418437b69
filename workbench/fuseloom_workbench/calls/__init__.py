"""The page of library calls: annotations, schedules, tiles, and whether fusing helps."""
