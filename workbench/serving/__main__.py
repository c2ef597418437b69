"""``python -m workbench.serving``: what ``fuseloom serve`` becomes."""

from __future__ import annotations

import sys

from workbench.serving.serve import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
