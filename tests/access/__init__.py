"""Tests of access patterns."""
