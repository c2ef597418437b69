"""The space of schedules: ways of regions, which are alike, and what none takes less than."""
