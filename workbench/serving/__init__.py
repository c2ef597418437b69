"""The web server of the workbench: ``fuseloom serve``, or ``python -m workbench.serving``."""
