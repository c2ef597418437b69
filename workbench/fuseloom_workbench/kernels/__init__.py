"""The page of deep fusion: layers, kernels, schedules, shared memory, code, and what it gains."""
