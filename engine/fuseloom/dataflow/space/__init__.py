"""The space of schedules: candidates of regions, which are alike, and what none takes less than."""
