"""Exploration: the search for schedules, and the runs that were made on the way."""
