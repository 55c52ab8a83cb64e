"""A plan of national tables for the demo country, as an office would begin one."""

from __future__ import annotations

from sdcensus.demo.documents.builder_policy import NOISE_FILE

#: What the plan is called, and the folder that it publishes into.
NATIONAL_PLAN_FILE, NATIONAL_FOLDER = "plan.toml", "national"

_PLAN = """\
# National tables of the demo country, in two languages. Made by sdcensus.
# Change it as you like; sdcensus plan check tells what it takes before it is published.

store = "{store}"

[office]
name = {{ en = "Statistical Office", es = "Oficina de Estadística" }}
contact = "census@example.org"

[protect]
method = "cell-key"
perturbation = "{noise}"             # as much noise as the table builder needs; office only
smallest_group = {smallest_group}                    # smaller published groups are not broken down

[output]
folder = "{folder}"                    # for everybody
office_folder = "{office}"               # for the office only: evaluation, lock, registry
date = 2021-12-31                      # the date in the files; no clock is read
formats = ["csv", "xlsx"]
languages = ["en", "es"]
evaluation = true

# ---- tables -----------------------------------------------------------------

[[table]]
name = "population"
title = {{ en = "Population by parish, sex and age", es = "Población por parroquia, sexo y edad" }}
rows = ["ed@parish+district"]
columns = ["sex", "age@five_year"]

[[table]]
name = "marital-status"
title = {{ en = "Marital status from 15 years on", es = "Estado civil desde los 15 años" }}
universe = "adults"                    # as the schema declares it
rows = ["ed@parish"]
columns = ["sex", "marital_status"]

[[table]]
name = "religion"
title = {{ en = "Religion by district", es = "Religión por distrito" }}
rows = ["ed@district"]
columns = ["religion"]

[[table]]
name = "households"
title = {{ en = "Private households by size and tenure", es = "Hogares por tamaño y tenencia" }}
of = "households"
universe = "private_households"
rows = ["ed@parish"]
columns = ["household_size", "tenure"]

[[table]]
name = "dwellings"
title = {{ en = "Dwellings by type and occupancy", es = "Viviendas por tipo y ocupación" }}
of = "dwellings"
rows = ["ed@parish"]
columns = ["living_quarters@kind", "occupancy"]

# ---- figures that are computed from published counts ------------------------

[[indicator]]
name = "median-age"
kind = "median-age"
by = ["ed@parish"]

[[indicator]]
name = "sex-ratio"
kind = "sex-ratio"
by = ["ed@parish"]

[[indicator]]
name = "dependency-ratio"
kind = "dependency-ratio"
by = ["ed@parish"]

[[indicator]]
name = "household-size"
kind = "average-household-size"
by = ["ed@parish"]
"""


def national_plan(store: str, office: str, *, smallest_group: int) -> str:
    """A plan of national tables for a demo country.

    Args:
        store: The census store, from the folder of the plan.
        office: The folder for the office only.
        smallest_group: Published groups below this are not broken down further.
    """
    return _PLAN.format(
        store=store,
        office=office,
        folder=NATIONAL_FOLDER,
        noise=NOISE_FILE,
        smallest_group=smallest_group,
    )
