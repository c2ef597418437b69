"""Intersecters and unioners."""
