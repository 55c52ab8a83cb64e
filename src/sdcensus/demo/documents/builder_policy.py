"""The policy with which the demo country opens its table builder."""

from __future__ import annotations

import json

#: What the policy is called, and the table of its noise, which the plans use as well.
POLICY_FILE, NOISE_FILE = "policy.toml", "noise.csv"

#: The variables on offer, by topic, with their finest levels where they are not their own.
_OFFERED: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("Geography", (("ed", ""),)),
    ("Demography", (("sex", ""), ("age", "five_year"), ("marital_status", ""))),
    (
        "Ethnicity, religion, language, migration",
        (("ethnicity", ""), ("religion", "faith"), ("language", ""), ("birthplace", "area")),
    ),
    (
        "Education and work",
        (
            ("education", "broad"),
            ("activity", ""),
            ("occupation", "skill"),
            ("industry", "sector"),
            ("employment_status", ""),
            ("travel", ""),
        ),
    ),
    ("Health", (("disability", ""),)),
    (
        "Households",
        (("household_type", ""), ("household_size", ""), ("tenure", ""), ("vehicles", "")),
    ),
    (
        "Dwellings and buildings",
        (
            ("living_quarters", "kind"),
            ("occupancy", ""),
            ("rooms", ""),
            ("water", ""),
            ("building_type", ""),
            ("construction_period", ""),
        ),
    ),
)
#: Households and dwellings are told about on tables of their own. On tables of persons they would
#: make every group small, and persons by the size of their household are a multiple of households.
_HOMES = ("households", "dwellings", "buildings")
_ON_TABLES_OF = {
    "household_type": _HOMES[:1],
    "household_size": _HOMES[:1],
    "tenure": _HOMES[:1],
    "vehicles": _HOMES[:1],
    "living_quarters": _HOMES[:2],
    "occupancy": _HOMES[:2],
    "rooms": _HOMES[:2],
    "water": _HOMES[:2],
    "building_type": _HOMES,
    "construction_period": _HOMES,
}
#: Offered for parishes and larger areas only.
_NOT_BELOW_PARISHES = ("religion", "disability")

_HEAD = """\
# What the public may ask the table builder of the demo country for. Made by sdcensus.
#   sdcensus serve {store} --policy {policy} --plan {plan} --secret {secret}
# The plan is named so that tables of the builder and of the plan have the same numbers.
# The noise in {noise} is as large as everything that is open here needs, taken together, against
# whoever adds up and subtracts published values. Open more, or more variables in a table, and serve
# says how much noise that would take. sdcensus looks says what this does not cover.

name = "Public table builder of the demo country"
lock = true

[limits]
dimensions = 3                         # variables in a table; area and conditions count
cells = 100_000

[online]
mean_cell_size = 2                     # areas with fewer units for each cell are withheld
when_sparse = "withhold-area"
smallest_group = {smallest_group}                    # smaller published groups are not broken down
recovery = 0.5                         # chance that least squares over all tables finds the count
                                       # of the cell that they show best (the total of a region)

# ---- who may ask for how much -----------------------------------------------

[role.public]
cells_per_hour = 2_000_000
tables_per_day = 1_000
jobs = 1

[role.registered]
cells_per_hour = 10_000_000
tables_per_day = 10_000
jobs = 3

[role.staff]
jobs = 5

# ---- variables --------------------------------------------------------------
"""


def builder_policy(
    variables: tuple[str, ...], *, store: str, plan: str, secret: str, smallest_group: int
) -> str:
    """The policy of the table builder of a demo country.

    Args:
        variables: Every variable of the country that tables can be made by.
        store, plan, secret: What the command names, from the folder of the policy.
        smallest_group: Published groups below this are not broken down further.
    """
    lines = [
        _HEAD.format(
            store=store,
            policy=POLICY_FILE,
            plan=plan,
            secret=secret,
            noise=NOISE_FILE,
            smallest_group=smallest_group,
        )
    ]
    offered = set()
    for topic, members in _OFFERED:
        names = [name for name, _ in members]
        offered.update(names)
        lines.append(f"# {topic}: {', '.join(names)}\n")
        for name, finest in members:
            rules = []
            if finest:
                rules.append(f'finest_level = "{finest}"')
            if name in _NOT_BELOW_PARISHES:
                rules.append('finest_area = "ed@parish"')
            if name in _ON_TABLES_OF:
                rules.append(f"units = {json.dumps(_ON_TABLES_OF[name])}")
            if rules:
                lines.append("\n".join([f"[variable.{name}]", *rules, ""]))
    lines.append("# Not offered.\n")
    lines += [f"[variable.{name}]\noffered = false\n" for name in variables if name not in offered]
    return "\n".join(lines)
