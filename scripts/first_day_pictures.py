"""Take the screens of the guide's first day, in a real browser, on the files that its tests make.

Usage: python -m scripts.first_day_pictures [FOLDER]
where FOLDER is docs/images if none is named. Runs the commands of the page up to the table builder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from scripts import builder_picture, schema_editor_picture
from tests.docs.first_day import go_through
from tests.docs.pages import answer_of, blocks, steps
from tests.docs.puerto_claro import write
from tests.docs.staying import opened, stays

PAGE = "first-day.md"
_QUESTION = (("of", "persons"), ("by", "comuna@region"), ("by", "edad@grandes"), ("by", "sexo"))
_VIEW = (("rows", "comuna,edad"), ("columns", "sexo"), ("lang", "es"))


def take_all(folder: Path, images: Path) -> None:
    """Go the way of the page in a folder, and keep three screens of it."""
    write(folder / "censo")
    schema = folder / "censo" / "schema" / "schema.toml"
    for block in blocks(PAGE, "console"):
        for command, _ in steps(block):
            if "http:" in command:
                continue  # what is open is closed again here
            if not stays(command):
                code, answer = answer_of(command, folder)
                assert code == 0, answer
            elif "edit" in command:
                schema_editor_picture.take(schema, "comuna", images / "first-day-schema.png")
                go_through(schema)
            else:
                with opened(command, folder) as address:
                    out = images / "first-day-builder.png"
                    builder_picture.take(address, out, _QUESTION + _VIEW)
            if command.startswith("sdcensus load"):
                report = (folder / "censo" / "census.store.report.html").as_uri()
                builder_picture.take_page(report, images / "first-day-load.png", "main, body")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        take_all(Path(place), Path(*sys.argv[1:2] or ["docs", "images"]))
