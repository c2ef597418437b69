"""Concrete index notation: loops, workspaces and assignments."""
