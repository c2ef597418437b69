"""One program fused by every system, each result compared with the same reference.

:func:`fuseloom.comparison.compare.compare` gives a row for each system and each of its schemes.
"""
