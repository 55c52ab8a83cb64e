"""What commands about licences have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Office = Annotated[Path, typer.Argument(metavar="OFFICE", help="The office folder.")]
Number = Annotated[
    str, typer.Argument(metavar="LICENCE", help="The number of the licence, such as 2026-001.")
]
Day = Annotated[
    str, typer.Option("--date", metavar="DATE", help="On which day; today if nothing is said.")
]
Document = Annotated[
    Path | None,
    typer.Option(
        "--document", metavar="FILE", help="Its paper: place and digest are kept, no copy."
    ),
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")]
