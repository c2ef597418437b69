"""Sparse tensor networks: loop fusion, loop order and layout solved together.

A tree of contractions becomes constraints (``solving``), a solution of them a nest of loops
(``loopnest``), and that code for this machine's CPU.
"""
