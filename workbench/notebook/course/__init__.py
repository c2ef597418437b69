"""The exercises of the notebooks, a module each."""
