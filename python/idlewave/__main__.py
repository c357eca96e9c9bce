"""``python -m idlewave``: the command line."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.argv[0] = "idlewave"
    main()
