"""``sdcensus pram``: codes change by chance, with known probabilities; and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from sdcensus.cli.derive import pram_estimate
from sdcensus.cli.derive.commands import Family, family_command
from sdcensus.cli.shared.options import examples

PRAM = Family("pram", "way of PRAM", {"variables": "pram", "geographic": "geographic-pram"})
EXAMPLES = examples(
    "sdcensus pram census.store --variables tenure --stay 0.9 --plan",
    "sdcensus pram census.store --variables tenure --stay 0.9 --out d.store",
    "sdcensus pram census.store --how geographic --move ed=0.05 --out d.store",
    "sdcensus pram estimate table.csv --matrix tenure=matrix.csv",
)


class PramCommand(TyperCommand):
    """A command on a store, with one of its own for those who have published tables only."""

    @cached_property
    def commands(self) -> Mapping[str, Any]:
        """What is typed in the place of the store."""
        whole = typer.Typer(rich_markup_mode=None, add_completion=False)
        whole.command("estimate", epilog=pram_estimate.EXAMPLES)(pram_estimate.estimate)
        return {"estimate": get_command(whole)}

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """The context of the command itself, or of the one that is named first."""
        if args and args[0] in self.commands:
            name, *rest = args
            inner = self.commands[name]
            return inner.make_context(f"{info_name} {name}", rest, parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)


pram = family_command(
    PRAM, "Make a store in which codes of some records were changed, with known probabilities."
)
pram.command_class = PramCommand  # type: ignore[attr-defined]
