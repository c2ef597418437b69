"""Triton of stitched kernels: blocks as programs, loops as tiles."""
