"""Take the screen of the guide's page before counting: the report of a swapped store, in a browser.

Usage: python -m scripts.before_counting_picture REPORT.html [OUT.png]
where REPORT.html is the one that the page's command writes into swapped.store.office.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scripts import builder_picture

OUT = Path("docs", "images", "before-counting-report.png")

if __name__ == "__main__":
    report = Path(sys.argv[1]).resolve().as_uri()
    builder_picture.take_page(report, Path(*sys.argv[2:3] or [str(OUT)]), "#what-the-method-did")
