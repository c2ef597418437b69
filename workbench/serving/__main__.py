"""``python -m workbench.serving``: what ``fuseloom serve`` becomes."""

from __future__ import annotations

import sys

from workbench.serving.allocator import use_library

if __name__ == "__main__":
    use_library()
    from workbench.serving.serve import main

    sys.exit(main(sys.argv[1:]))
