"""Walking through the menu of a served table builder, through its public API.

Nothing but what anybody gets who has the address: tables are downloaded one after the other, as
files, and read like any published folder. A server that has had enough is left alone.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from sdcensus.client import (
    Busy,
    Connection,
    QuotaUsedUp,
    StillRunning,
    TableRefused,
    VariableOffered,
    connect,
)
from sdcensus.errors import InputError, QuestionError
from sdcensus.formats.read.tables import scan_published
from sdcensus.model.progress import Progress, no_progress
from sdcensus.session.attack.crawl import Crawl, MenuWalk, OfferedAxis, told, walked

#: Tables that are asked for where nobody says how many: others want answers too.
MOST_TABLES = 300


def crawl_served(
    address: str | Connection,
    walk: MenuWalk | None = None,
    *,
    keep: str | Path | None = None,
    progress: Progress = no_progress,
) -> Crawl:
    """Ask a table builder for tables of its menu, one after the other.

    The walk ends when the server says that the quota is used up or that it is busy; what was
    answered until then is what there is.

    Args:
        address: The address of the table builder, or a connection to it.
        walk: Which part of the menu; at most ``MOST_TABLES`` where it does not say how many.
        keep: A new or empty folder for the downloads; they are not kept otherwise.
        progress: Told how far it is.
    """
    connection = connect(address) if isinstance(address, str) else address
    chosen = walk or MenuWalk()
    units = chosen.of.plural
    population = next((dataset for dataset in connection.datasets() if dataset.id == units), None)
    if population is None:
        raise InputError(f"{connection.url} offers no tables of {units}.")
    offered = [_offered(variable) for variable in connection.variables(units)]
    sizes = {
        (offered_axis.variable, level): size
        for offered_axis in offered
        for level, size in offered_axis.levels
    }

    def allowed(table: Mapping[str, str]) -> bool:
        cells = math.prod(sizes[name, level] + 1 for name, level in table.items())
        return population.most_cells is None or cells <= population.most_cells

    questions = walked(offered, chosen, most_variables=population.most_variables, allowed=allowed)
    asked = questions[: chosen.most_tables or MOST_TABLES]
    refused = answered = 0
    said: list[str] = []
    with ExitStack() as stack:
        folder = _folder(keep, stack)
        for at, question in enumerate(asked):
            progress("asking for tables", at / len(asked))
            target = folder / f"{at + 1:05d}.parquet"
            try:
                connection.download(*question.by, of=question.of, to=target)
            except (TableRefused, QuestionError, StillRunning):
                refused += 1
            except (QuotaUsedUp, Busy) as error:
                said.append(f"The server has had enough after {at:,} tables: {error}")
                break
            else:
                answered += 1
        if not answered:
            raise InputError(" ".join(["No table was answered.", *said]))
        progress("reading published tables", 0.0)
        tables = scan_published(folder).of_counts(folder).tables
    done = answered + refused
    left = len(questions) - done
    return Crawl(tables, done, refused, left, (*said, *told(done, refused, left)))


def _offered(variable: VariableOffered) -> OfferedAxis:
    levels = sorted(variable.levels, key=lambda level: -level.size)
    return OfferedAxis(
        variable.name, tuple((level.name, level.size) for level in levels), variable.geography
    )


def _folder(keep: str | Path | None, stack: ExitStack) -> Path:
    if keep is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory()))
    folder = Path(keep)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not empty. Name a new folder for the downloads.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
