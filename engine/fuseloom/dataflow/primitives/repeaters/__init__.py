"""Repeaters of tokens and of whole subtrees."""
