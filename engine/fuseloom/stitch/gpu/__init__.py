"""Kernels for GPUs, checked and compiled without one, and jobs for machines with one."""
