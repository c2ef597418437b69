"""Droppers of what is empty, and the aligner of fibers."""
