"""Exact counts without a run: graphs executed on coordinates, and when they are done."""
