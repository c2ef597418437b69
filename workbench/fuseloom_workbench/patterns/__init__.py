"""The page of access patterns: dense kernels, rewritten until a systolic array computes them."""
