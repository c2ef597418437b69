"""The compiled engine: takes a bound graph, packs it into arrays, runs it by kernels over runs of
tokens, and gives the same result as the golden models.

Importing a module of this package imports numba; importing the package alone does not.
"""

__all__ = ["cache", "choice", "kernels", "simulation", "warmup"]
