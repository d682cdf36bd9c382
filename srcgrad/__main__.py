"""`python -m srcgrad` is the command `srcgrad`."""

from __future__ import annotations

import sys

from srcgrad.interface.cli import main

if __name__ == "__main__":
    sys.exit(main())
