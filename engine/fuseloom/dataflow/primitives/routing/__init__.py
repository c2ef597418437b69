"""Lanes: streams forked, joined and broadcast."""
