"""The command line: reads arguments, calls the session, shows what it answers.

One module for each command, in folders by what they are about; ``shared`` holds what several need.
Nothing is computed here: a command is arguments in, one call, text out.
"""

from __future__ import annotations

import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    try:
        # Here and not above: whoever is impatient already while Python starts sees no traceback.
        from sdcensus.cli.shared.run import run

        code = run()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
