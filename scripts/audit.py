"""Are versions with known vulnerabilities in the lock files? Asks an advisory database.

Exit codes: 0 nothing is known against any version; 1 something is; 3 it could not be asked about
all of them, which is said and is no good news. Which database is asked, and where it is, is a
matter of pip-audit and of how pip is set up on this machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements/generator.lock")
FOUND, NOT_ASKED = 1, 3
_SHOWN = 8


def audit(lock: Path) -> dict[str, Any] | None:
    """What pip-audit says about a lock file; ``None`` where it got no answer."""
    command = [
        *(sys.executable, "-m", "pip_audit", "--requirement", str(lock)),
        *("--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def told(name: str, answer: dict[str, Any] | None) -> tuple[int, list[str]]:
    """The exit code of an answer, and what to say about it.

    Examples:
        >>> told("a.lock", None)
        (3, ['a.lock: NOT CHECKED. The advisory database cannot be reached from here.'])
        >>> told("a.lock", {"dependencies": [{"name": "x", "version": "1", "vulns": []}]})
        (0, ['a.lock: nothing is known against any of 1 packages.'])
        >>> one = {"name": "x", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}
        >>> told("a.lock", {"dependencies": [one]})
        (1, ['a.lock: x 1 has a known vulnerability, PYSEC-1 (mended in 2).'])
        >>> told("a.lock", {"dependencies": [{"name": "x", "skip_reason": "not found"}]})
        (3, ['a.lock: NOT CHECKED: 1 of 1 packages (x), of which the database told nothing.'])
    """
    if answer is None:
        return NOT_ASKED, [
            f"{name}: NOT CHECKED. The advisory database cannot be reached from here."
        ]
    packages = answer.get("dependencies", [])
    lines = [
        f"{name}: {package['name']} {package['version']} has a known vulnerability,"
        f" {vulnerability['id']}"
        f" ({_mended(vulnerability)})."
        for package in packages
        for vulnerability in package.get("vulns", [])
    ]
    code = FOUND if lines else 0
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if skipped or not packages:
        more = " ..." if len(skipped) > _SHOWN else ""
        lines.append(
            f"{name}: NOT CHECKED: {len(skipped):,} of {len(packages):,} packages"
            f" ({', '.join(skipped[:_SHOWN])}{more}), of which the database told nothing."
        )
        code = code or NOT_ASKED
    if not lines:
        lines.append(f"{name}: nothing is known against any of {len(packages):,} packages.")
    return code, lines


def _mended(vulnerability: dict[str, Any]) -> str:
    versions = vulnerability.get("fix_versions") or []
    return f"mended in {', '.join(versions)}" if versions else "not mended yet"


def main(arguments: Sequence[str]) -> int:
    """Audit the lock files, or those that are named."""
    codes = []
    for name in arguments or LOCKS:
        code, lines = told(name, audit(ROOT / name))
        codes.append(code)
        print("\n".join(lines))
    if FOUND in codes:
        print("Take versions in which it is mended: make lock UPGRADE=1")
        return FOUND
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
