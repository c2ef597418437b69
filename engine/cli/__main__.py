"""``python -m engine.cli``: the command line without an installed script."""

import sys

from engine.cli.main import main

sys.exit(main())
