"""``sdcensus policy``: check a policy, ask it about a table, run its rules of design time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import (
    Axes,
    Confidential,
    Quiet,
    SecretFile,
    Store,
    Units,
    Where,
    command_group,
    examples,
    listed,
)
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import OutputError, Refused, SpecError
from sdcensus.model.quantities import share_text
from sdcensus.model.vocabulary import UserRole

if TYPE_CHECKING:
    from sdcensus.model.policy.policy import Policy
    from sdcensus.session.census.census import Census
    from sdcensus.session.looks.budget import NamedNoise
    from sdcensus.session.policy import Verdict

app = command_group(
    "Check a policy, ask it about a table, or run its rules of design time.",
    "sdcensus policy check policy.toml --store census.store",
    "sdcensus policy ask policy.toml census.store --by ed@parish,age,religion",
    "sdcensus policy design policy.toml census.store --confidential",
)


PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy document.")]
OfferedUnits = Annotated[
    str | None,
    typer.Option(
        "--of",
        metavar="UNITS",
        help="What is counted: persons, households ...; persons, or what is offered, if not given.",
    ),
]
RoleOption = Annotated[UserRole, typer.Option("--role", help="Who asks.")]
NoiseOption = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        metavar="NAME",
        help="The noise against which looks and small groups are held; else of medium strength.",
    ),
]

NoiseFile = Annotated[
    Path | None,
    typer.Option(
        "--perturbation", metavar="FILE", help="The same, by the file of a perturbation table."
    ),
]


@app.command(
    "check",
    epilog=examples(
        "sdcensus policy check policy.toml --store census.store",
        "sdcensus policy check policy.toml --store census.store --perturbation noise.csv",
    ),
)
def check(
    policy: PolicyFile,
    store: Annotated[
        Path,
        typer.Option(
            "--store", metavar="STORE", help="The census that the policy is about, as a store."
        ),
    ],
    of: OfferedUnits = None,
    role: RoleOption = UserRole.PUBLIC,
    scheme: NoiseOption = None,
    perturbation: NoiseFile = None,
    quiet: Quiet = False,
) -> None:
    """Check a policy against a census; list every mistake with its line, and what it allows.

    The look budget of the menu is held against the noise, and small groups that it breaks down are
    counted in the census. What the rules on published numbers will withhold is not shown.
    """
    from sdcensus.session.census.census import open_store
    from sdcensus.session.census.sample import unweighted_menu
    from sdcensus.session.gate.tied_units import looks_between_units, tie_lines, ties_in_policy
    from sdcensus.session.looks.budget import NamedNoise, menu_lines
    from sdcensus.session.policy import conflicts, read_policy
    from sdcensus.session.policy.small_codes import undecided, undecided_lines

    output = Output(quiet=quiet)
    census = open_store(store)
    read = read_policy(policy, census.schema)
    output.say(f"{policy} is right.")
    _show_policy(output, read)
    of = of or _main_units(read, role)
    _show_menu(output, read, of, role)
    _show_amounts(output, read)
    unsaid = unweighted_menu(census, read)
    ties = (*tie_lines(ties_in_policy(read)), *([unsaid] if unsaid else []))
    if ties:
        output.say("\nTo be changed: serve does not open this", style="bold")
        for line in ties:
            output.say(f"  {line}")
    small = undecided(read, census)
    warnings = (
        *looks_between_units(read),
        *conflicts(read, nothing_small=not small),
        *undecided_lines(read, small),
    )
    if warnings:
        output.say("\nWorth a look", style="bold")
        for sentence in warnings:
            output.say(f"  {sentence}")
    noise = NamedNoise.of(scheme, perturbation)
    output.say("\nLook budget", style="bold")
    for line in menu_lines(read, noise, of=of, role=role.value):
        output.say(f"  {line}")
    _show_groups(output, census, read, of, role, noise)


def _main_units(policy: Policy, role: UserRole) -> str:
    """Persons, or the first units of which anything is offered."""
    from sdcensus.model.schema.variable import Entity
    from sdcensus.session.looks.budget import menus_of

    units = list(menus_of(policy, role=role.value))
    main = Entity.PERSON if Entity.PERSON in units or not units else units[0]
    return main.plural


def _show_groups(
    output: Output,
    census: Census,
    policy: Policy,
    of: str,
    role: UserRole,
    noise: NamedNoise,
) -> None:
    from sdcensus.cli.shared.tables import show_broken_down
    from sdcensus.session.gate.broken_down import broken_down_in_policy

    with Stages(output, "counting what is broken down") as stages:
        broken_down = broken_down_in_policy(
            census, policy, of=of, role=role.value, perturbation=noise.perturbation, progress=stages
        )
    show_broken_down(output, census, (broken_down,), policy.broken_down, assumed=noise.name)


def _show_policy(output: Output, policy: Policy) -> None:
    from sdcensus.model.policy.policy import UserRole as Roles

    locked = "; locked: nothing in a plan or a request can loosen it" if policy.lock else ""
    output.say(f"\n{policy.name}{locked}", style="bold")
    table = plain_table()
    for title in ("role", "variables", "cells", "cells per hour", "tables per day", "online"):
        table.add_column(title, justify="left" if title in ("role", "online") else "right")
    for role in Roles:
        rules = policy.role(role)
        numbers = (rules.dimensions, rules.cells, rules.cells_per_hour, rules.tables_per_day)
        shown = ["-" if number is None else f"{number:,}" for number in numbers]
        table.add_row(role.value, *shown, "on" if rules.online else "off")
    output.show(table)
    for record_set in policy.exempt:
        output.say(f"Published exactly: {record_set.text or ', '.join(record_set.by)}.")
    for combination in policy.never_together:
        output.say(f"Never together: {', '.join(map(str, combination))}.")
    for hidden in policy.decided.not_offered:
        output.say(f"Not offered: {len(hidden.codes):,} codes of {hidden.at}.")
    for detail in policy.decided.detail:
        levels = ", ".join(map(str, detail.finest))
        output.say(f"Less detail: {len(detail.codes):,} areas of {detail.at} get at most {levels}.")


def _show_menu(output: Output, policy: Policy, of: str, role: UserRole) -> None:
    from sdcensus.model.schema.variable import Entity
    from sdcensus.session.policy import menu_of

    entity = Entity.parse(of)
    menu = menu_of(policy, policy.schema, of=entity, role=role.value)
    output.say(f"\nOffered for {entity.plural} to the role {role.value}", style="bold")
    table = plain_table()
    table.add_column("variable", no_wrap=True)
    table.add_column("levels (codes)")
    table.add_column("as filter", no_wrap=True)
    table.add_column("finest area", no_wrap=True)
    for variable in menu.variables:
        rule = policy.rule_of(variable.variable.name)
        levels = ", ".join(f"{level.name} ({len(level.codes):,})" for level in variable.levels)
        table.add_row(
            variable.variable.name,
            levels,
            "yes" if rule.as_filter else "no",
            "" if rule.finest_area is None else str(rule.finest_area),
        )
    output.show(table)
    names = {variable.variable.name for variable in menu.variables}
    others = [
        variable.name for variable in policy.schema.usable(entity) if variable.name not in names
    ]
    if others:
        output.say(f"Not offered: {', '.join(others)}.")


def _show_amounts(output: Output, policy: Policy) -> None:
    """What is offered of amounts, in how many tables, and how much noise their sums need."""
    from sdcensus.session.answer.sum_budgets import menu_of_amount

    if policy.amounts:
        output.say("\nAmounts", style="bold")
    for rule in policy.amounts:
        parts = [", ".join(figure.value for figure in rule.measures)]
        if rule.by is not None:
            parts.append(f"by {', '.join(map(str, rule.by))}")
        if rule.finest_area is not None:
            parts.append(f"areas not finer than {rule.finest_area}")
        if rule.dimensions is not None:
            parts.append(f"at most {rule.dimensions} variables")
        parts.append(f"{rule.contributors(policy.online.smallest_group)} contributors or more")
        output.say(f"  {rule.variable}: {'; '.join(parts)}.")
        looks = menu_of_amount(policy, rule)
        if looks is not None:
            output.say(
                f"    Somebody's {rule.variable} is in a cell of each of {looks.tables:,} tables:"
                f" serve asks for noise with a standard deviation of {share_text(looks.needed)} of"
                f" the largest contribution, so that all together leave {share_text(looks.limit)}."
            )


@app.command(
    "ask",
    epilog=examples(
        "sdcensus policy ask policy.toml census.store --by ed@parish,age,religion",
        'sdcensus policy ask policy.toml census.store --by ed --where "sex == 1"',
        "sdcensus policy ask policy.toml census.store --by ed,age --role registered",
        'sdcensus policy ask policy.toml census.store --by ed --measure "mean(income)"',
        "sdcensus policy ask policy.toml census.store --by ed --method random-rounding",
    ),
)
def ask(
    policy: PolicyFile,
    store: Store,
    by: Axes = "",
    of: Units = "persons",
    where: Where = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="MEASURE",
            help="count, or of an amount: sum(income), mean(income), median(income).",
        ),
    ] = "count",
    role: RoleOption = UserRole.PUBLIC,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="Also publish the table by this method, and apply the rules on published numbers.",
        ),
    ] = None,
    secret: SecretFile = None,
    quiet: Quiet = False,
) -> None:
    """Say whether a table would be answered, why not, and what would help.

    The answer is what the public would be told. The exit code is 4 if the table is refused.
    """
    from sdcensus.model.spec.question import Question
    from sdcensus.session.answer.asked_figures import ask_figure
    from sdcensus.session.census.census import open_store
    from sdcensus.session.policy import Outcome, ask as ask_policy, read_policy

    output = Output(quiet=quiet)
    census = open_store(store)
    read = read_policy(policy, census.schema)
    condition = where.strip() or None if where else None
    question = {"of": of, "measure": measure, "by": listed(by), "where": condition or ""}
    asked = Question.from_json(question)
    if asked.figure is not None and method is not None:
        raise SpecError("--method applies rules on published counts. Leave it out, or --measure.")
    if asked.figure is not None:
        verdict = ask_figure(read, asked, role.value)
    else:
        spec = census.spec(*listed(by), of=of, universe=condition)
        verdict = ask_policy(read, spec, role=role.value)
    if method is not None and verdict.outcome is not Outcome.REFUSED:
        from sdcensus.session.policy import show
        from sdcensus.session.policy.published_tables import publisher

        with Stages(output, f"publishing {spec.title}"):
            publish = publisher(census, method, of=of, secret=secret)
            verdict = show(read, publish(spec), role=role.value, published=publish).verdict
    _show_verdict(output, verdict)
    if verdict.outcome is Outcome.REFUSED:
        raise typer.Exit(Refused.exit_code)


def _show_verdict(output: Output, verdict: Verdict) -> None:
    output.say(verdict.sentence, style="bold")
    for reason in verdict.reasons:
        output.say(f"  {reason.sentence} [{reason.code}]")
        for withheld in reason.withheld:
            output.say(f"    {withheld.sentence}")
    if verdict.remedies:
        output.say("What would help")
        for remedy in verdict.remedies:
            output.say(f"  {remedy.sentence}")
    for note in verdict.notes:
        output.say(note)


@app.command(
    "design",
    epilog=examples(
        "sdcensus policy design policy.toml census.store --confidential",
        "sdcensus policy design policy.toml census.store --confidential --out new.toml",
    ),
)
def design(
    policy: PolicyFile,
    store: Store,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the policy with these decisions to a new file. It holds no counts.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="AXES",
            help="Also look for cells of one household in this table of persons.",
        ),
    ] = None,
    scheme: NoiseOption = None,
    perturbation: NoiseFile = None,
    confidential: Confidential = False,
    quiet: Quiet = False,
) -> None:
    """Run the rules that read true counts, and say what they propose to decide.

    Small areas and categories, detail by size of area, exempt totals that are few people or differ
    by few, small groups that the menu breaks down. The answer holds true counts: it is for the
    person who decides.
    """
    from sdcensus.session.census.census import open_store
    from sdcensus.session.looks.budget import NamedNoise
    from sdcensus.session.policy import policy_text, read_policy
    from sdcensus.session.policy.design import design as run_design, with_decisions

    output = Output(quiet=quiet)
    if not confidential:
        raise Refused(
            "These rules read true counts, and the answer shows some. If you may see them, and"
            " nobody else looks at your screen, add --confidential."
        )
    if out is not None and out.exists():
        raise OutputError(f"{out} already exists. Choose another name or remove it first.")
    census = open_store(store)
    read = read_policy(policy, census.schema)
    with all_or_nothing(), Stages(output, "counting") as stages:
        tables = () if by is None else (census.spec(*listed(by)),)
        report = run_design(read, census, tables=tables, progress=stages)
        text = policy_text(with_decisions(report)) if out is not None else ""
    lines = list(report.lines(counts=True))
    output.say(f"{read.name}: confidential", style="bold")
    for line in lines or ["The policy has no rules of design time."]:
        output.say(line)
    units = _main_units(read, UserRole.PUBLIC)
    _show_groups(output, census, read, units, UserRole.PUBLIC, NamedNoise.of(scheme, perturbation))
    if out is not None:
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        output.say(f"Wrote {out}: the policy with these decisions. Look at it before you use it:")
        output.command(f"sdcensus policy check {typed(out)} --store {typed(store)}")
