"""Graphs as synthesizable hardware: a module per primitive, channels between them, a test bench.

The golden model of a primitive and its hardware make the same requests in the same order
(:mod:`fuseloom.dataflow.rtl.unit`), so that tokens, deadlocks and, but for what is stated in
``docs/rtl.md``, cycles are those of the simulator.  Needs Amaranth (the extra ``rtl``).
"""
