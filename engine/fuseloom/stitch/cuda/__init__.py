"""CUDA C of stitched kernels: the threads of a block share its phases."""
