"""C of stitched kernels: blocks as iterations, phases as loops within."""
