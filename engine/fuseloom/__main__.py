"""``python -m fuseloom``: the command line without an installed script."""

import sys

from fuseloom.cli.main import main

sys.exit(main())
