"""Tests of the language of annotations."""
