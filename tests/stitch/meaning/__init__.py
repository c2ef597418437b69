"""Tests of the meanings of operations."""
