"""Take the picture of ``sdcensus schema edit`` for its guide page, in a real browser.

Usage: python scripts/schema_editor_picture.py SCHEMA VARIABLE OUT.png
where SCHEMA is a draft of the files of the demo country, in which nobody exists: sdcensus demo,
then sdcensus schema draft.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from scripts.builder_picture import pixels, small_png
from sdcensus.session.schema_editing.editing import SchemaEditing
from sdcensus.web.schema_editor.server import EditorServer

_BROWSER = "/usr/bin/chromium"
_WIDTH, _HEIGHT = 1280, 960


def take(schema: Path, variable: str, out: Path) -> None:
    """Open the page at a variable and keep what the office sees of it at once."""
    server = EditorServer(SchemaEditing(schema))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with sync_playwright() as tools:
            browser = tools.chromium.launch(
                executable_path=_BROWSER, args=["--no-sandbox", "--disable-lcd-text"]
            )
            page = browser.new_page(
                viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light"
            )
            page.goto(server.address)
            page.locator(f'[data-focus="go-{variable}"]').click()
            page.wait_for_selector(".panel-title")
            page.wait_for_load_state("networkidle")
            page.mouse.move(_WIDTH - 5, _HEIGHT - 5)
            out.write_bytes(small_png(pixels(page.screenshot())))
            browser.close()
    finally:
        server.stop()
        thread.join()


if __name__ == "__main__":
    take(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
