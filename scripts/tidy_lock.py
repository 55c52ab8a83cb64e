"""Leave in a lock file nothing but pinned requirements, their hashes and who asked for them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEADER = """\
# Exact versions with hashes, for Python 3.11 and later. Made by `make lock`; do not edit.

"""

_PIN = re.compile(r"[a-z0-9][a-z0-9._-]*==\S+( ; .+)?( \\)?")
_HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
_NAME = r"[a-z0-9][a-z0-9._-]*( \(pyproject\.toml\))?|-[cr] [a-z0-9][a-z0-9._/-]*"
_ASKED_BY = re.compile(rf"    #( via)?( {{1,3}}({_NAME}))?")


def tidy(text: str) -> str:
    """Return the lines of a lock file that are pins, hashes or names of packages.

    Examples:
        >>> pin = "numpy==2.4.6 " + chr(92)
        >>> hashed = "    --hash=sha256:" + "0" * 64
        >>> print(tidy("--index-url https://somewhere" + chr(10) + pin + chr(10) + hashed))
        # Exact versions with hashes, for Python 3.11 and later. Made by `make lock`; do not edit.
        <BLANKLINE>
        numpy==2.4.6 \\
            --hash=sha256:0000000000000000000000000000000000000000000000000000000000000000
        <BLANKLINE>
    """
    kept = [
        line
        for line in (line.rstrip() for line in text.splitlines())
        if any(pattern.fullmatch(line) for pattern in (_PIN, _HASH, _ASKED_BY))
    ]
    return HEADER + "\n".join(kept) + "\n"


def main() -> None:
    """Tidy the lock file that the command line names."""
    path = Path(sys.argv[1])
    path.write_text(tidy(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
