"""The web server: ``fuseloom serve``, or ``python -m fuseloom_workbench.serving``."""
