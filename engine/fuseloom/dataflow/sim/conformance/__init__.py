"""Conformance: takes reference vectors or streams written as text; gives what the engines make of
them, token by token and clock by clock."""

__all__ = ["bench", "conform", "judge", "vectors"]
