"""A command has its own options and those of the methods, and neither hides the other."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer

from sdcensus.cli.shared.method_options import ALL_OPTIONS, Then, with_method_options
from sdcensus.cli.table.protect import protect
from sdcensus.model.method.parameter import MethodOptions


def test_no_parameter_of_a_method_hides_an_option_of_a_command() -> None:
    with pytest.raises(TypeError, match="'minimum', which would hide --minimum of the command"):

        @with_method_options(ALL_OPTIONS)
        def crowded(
            *,
            method_options: MethodOptions,
            minimum: Annotated[int, typer.Option("--minimum", help="Its own.")] = 0,
        ) -> None:
            pass


def test_an_option_of_a_method_can_reach_the_command_by_itself() -> None:
    @with_method_options(ALL_OPTIONS)
    def roomy(
        *, method_options: MethodOptions, then: Then = "", key_version: int | None = None
    ) -> None:
        reached.append((then, key_version))

    reached: list[tuple[str, int | None]] = []
    roomy(**{**dict.fromkeys(ALL_OPTIONS), "then": "", "key_version": 2})
    assert reached == [("", 2)]


def test_protect_keeps_its_groups_beside_those_of_methods() -> None:
    assert not {"groups", "groups_out", "minimum_population"} & ALL_OPTIONS.keys()
    assert protect.__annotations__["groups"].__metadata__[0].metavar == "FILE"
