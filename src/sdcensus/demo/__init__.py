"""A synthetic small country, written as ordinary files that go through ingest like anybody's.

``land`` has its areas and map, ``people`` who lives there, ``documents`` its schema, plans and
policy. Nothing here protects or publishes: ``session/demo`` does.
"""

from sdcensus.demo.country import PRESETS, Country, make_country, study_axes, study_shape
from sdcensus.demo.documents.builder_policy import NOISE_FILE, POLICY_FILE, builder_policy
from sdcensus.demo.documents.eu import eu_mapping
from sdcensus.demo.documents.eu_documents import EU_FOLDER, MAPPING_FILE, PLAN_FILE, eu_plan
from sdcensus.demo.documents.national_plan import NATIONAL_FOLDER, NATIONAL_PLAN_FILE, national_plan
from sdcensus.demo.write import DemoFiles, DemoFormat, write_country

__all__ = [
    "EU_FOLDER",
    "MAPPING_FILE",
    "NATIONAL_FOLDER",
    "NATIONAL_PLAN_FILE",
    "NOISE_FILE",
    "PLAN_FILE",
    "POLICY_FILE",
    "PRESETS",
    "Country",
    "DemoFiles",
    "DemoFormat",
    "builder_policy",
    "eu_mapping",
    "eu_plan",
    "make_country",
    "national_plan",
    "study_axes",
    "study_shape",
    "write_country",
]
