"""From the files of Palm Cay to a table, in Python."""

from pathlib import Path

import sdcensus as sc

SECRET = Path("../office.secret")

# Once: the office secret, and the store.
if not SECRET.exists():
    sc.census.new_secret(SECRET)
report = sc.load("schema.toml", "tables.store", secret=SECRET, replace=True)
print("loaded:", ", ".join(f"{rows} {kind.plural}" for kind, rows in report.rows.items()))

# As often as you like: tables.
census = sc.open_store("tables.store")
cube = census.tabulate("ed@parish", "age@broad", universe="sex == 2")
print(cube)

# A cube shows nothing by itself. Whoever may see true counts asks for them.
for cell in cube.rollup("ed@parish").cells():
    print(*cell.labels, cell.count)

# Coarser tables come from the cube itself, with the same cell keys as a table of their own.
again = census.tabulate("age@broad", universe="sex == 2")
print("same keys:", bool((cube.rollup("age@broad").key == again.key).all()))

# Mistakes are errors of one family, whose text is meant for people.
try:
    census.tabulate("ed@parrish")
except sc.SdcensusError as error:
    print(error)
