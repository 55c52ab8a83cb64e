"""What an office would write for the demo country: the policy of its table builder, and a plan."""

from __future__ import annotations

import json

from sdcensus.demo.documents.questionnaire import data_table, data_text

#: What the policy is called, and the table of its noise, which the plans use as well.
POLICY_FILE, NOISE_FILE = "policy.toml", "noise.csv"
#: What the plan is called, and the folder that it publishes into.
NATIONAL_PLAN_FILE, NATIONAL_FOLDER = "plan.toml", "national"
#: What the document about files for researchers is called, its groups of categories, the file and
#: the folder that it goes to.
RELEASE_FILE, GROUPINGS_FILE = "release.toml", "groupings.csv"
PUBLIC_USE_NAME, RESEARCHERS_FOLDER = "census-2021-puf", "researchers"
#: How the file that is made tells ages: with more groups too many households are alone with those
#: of their members.
_PUBLIC_AGES = "0,15,65+"
#: How the smaller designs tell variables.
_RECODES = {
    "age": "0,10,...,70+",
    "occupation": "skill",
    "industry": "sector",
    "birthplace": "origin",
    "citizenship": "origin",
    "education": "broad",
    "arrival_year": "decade",
    "hours_worked": "band",
    "place_of_work": "place",
}


def builder_policy(
    variables: tuple[str, ...], *, store: str, plan: str, secret: str, smallest_group: int
) -> str:
    """The policy of the table builder of a demo country.

    Args:
        variables: Every variable of the country that tables can be made by.
        store, plan, secret: What the command names, from the folder of the policy.
        smallest_group: Published groups below this are not broken down further.
    """
    head = data_text(
        "builder_policy.txt",
        store=store,
        policy=POLICY_FILE,
        plan=plan,
        secret=secret,
        noise=NOISE_FILE,
        smallest_group=smallest_group,
    )
    parts, offered = [head], set[str]()
    for topic in data_table("builder_offer")["topic"]:
        offered.update(topic["variables"])
        parts.append(f"# {topic['name']}: {', '.join(topic['variables'])}\n")
        for name, rules in topic["variables"].items():
            lines = [f"{rule} = {json.dumps(setting)}\n" for rule, setting in rules.items()]
            parts += ["".join([f"[variable.{name}]\n", *lines])] if lines else []
    parts.append(f"# ---- amounts {'-' * 63}\n")
    for name, rules in data_table("builder_offer")["amount"].items():
        lines = [f"{rule} = {json.dumps(setting)}\n" for rule, setting in rules.items()]
        parts.append("".join([f"[amount.{name}]\n", *lines]))
    parts.append("# Not offered.\n")
    parts += [f"[variable.{name}]\noffered = false\n" for name in variables if name not in offered]
    return "\n".join(parts)


def national_plan(store: str, office: str, *, smallest_group: int) -> str:
    """A plan of national tables for a demo country, as an office would begin one.

    Args:
        store: The census store, from the folder of the plan.
        office: The folder for the office only.
        smallest_group: Published groups below this are not broken down further.
    """
    return data_text(
        "national_plan.txt",
        store=store,
        office=office,
        folder=NATIONAL_FOLDER,
        noise=NOISE_FILE,
        smallest_group=smallest_group,
    )


def release_document(store: str, office: str, *, formats: tuple[str, ...]) -> str:
    """A public use file of a demo country, as an office would design one.

    Args:
        store: The census store, from the folder of the document.
        office: The folder for the office only.
        formats: Formats of the records.
    """
    return data_text(
        "release.txt",
        store=store,
        office=office,
        name=PUBLIC_USE_NAME,
        groupings=GROUPINGS_FILE,
        recodes=_recodes({}),
        public=_recodes({"age": _PUBLIC_AGES}),
        formats=json.dumps(list(formats)),
    )


def _recodes(other: dict[str, str]) -> str:
    """How a smaller design tells variables."""
    told = {**_RECODES, **other}
    return f"recode = {{ {', '.join(f'{name} = {json.dumps(to)}' for name, to in told.items())} }}"
