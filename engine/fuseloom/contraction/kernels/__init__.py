"""Loop nests as code for this machine's CPU: C where there is a compiler, numba elsewhere."""
