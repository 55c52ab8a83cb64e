"""A synthetic small country, written as ordinary files that go through ingest like anybody's.

``land`` has its areas and map, ``people`` who lives there, ``documents`` its schema, plans and
policy. Nothing here protects or publishes: ``session/demo`` does.
"""

from sdcensus.demo.country import (
    PRESETS as PRESETS,
    Country as Country,
    make_country as make_country,
    study_axes as study_axes,
    study_shape as study_shape,
)
from sdcensus.demo.documents.eu_documents import (
    EU_FOLDER as EU_FOLDER,
    MAPPING_FILE as MAPPING_FILE,
    PLAN_FILE as PLAN_FILE,
    eu_mapping as eu_mapping,
    eu_plan as eu_plan,
)
from sdcensus.demo.documents.office_documents import (
    GROUPINGS_FILE as GROUPINGS_FILE,
    NATIONAL_FOLDER as NATIONAL_FOLDER,
    NATIONAL_PLAN_FILE as NATIONAL_PLAN_FILE,
    NOISE_FILE as NOISE_FILE,
    POLICY_FILE as POLICY_FILE,
    RELEASE_FILE as RELEASE_FILE,
    RESEARCHERS_FOLDER as RESEARCHERS_FOLDER,
    builder_policy as builder_policy,
    national_plan as national_plan,
    release_document as release_document,
)
from sdcensus.demo.write import DemoFiles as DemoFiles, write_country as write_country
from sdcensus.model.vocabulary import DemoFormat as DemoFormat
