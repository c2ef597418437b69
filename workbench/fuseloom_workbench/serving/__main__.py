"""``python -m fuseloom_workbench.serving``: what ``fuseloom serve`` becomes."""

from __future__ import annotations

import sys

from fuseloom_workbench.serving.allocator import use_library

if __name__ == "__main__":
    use_library()
    from fuseloom_workbench.serving.serve import main

    sys.exit(main(sys.argv[1:]))
