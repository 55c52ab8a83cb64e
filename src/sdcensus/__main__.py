"""``python -m sdcensus`` is the command line."""

from __future__ import annotations

from sdcensus.cli import main

if __name__ == "__main__":
    main()
