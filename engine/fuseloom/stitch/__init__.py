"""Deep fusion of dense graphs: many small operations in few kernels, block by block."""
