"""Let ``python -m chaincheck`` do what the ``chaincheck`` script does."""

from __future__ import annotations

import sys

from chaincheck.cli import main

if __name__ == "__main__":
    sys.exit(main())
