"""Models as HLO text, made by JAX from the programs in ``benchmarks/stitch_examples.py``."""
