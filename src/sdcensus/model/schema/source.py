"""Where raw records come from: one file of the census, or several alike, and how to read them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class FileFormat(StrEnum):
    """The formats that census files come in."""

    CSV = "csv"
    PARQUET = "parquet"
    SPSS = "spss"
    STATA = "stata"
    SAS = "sas"
    FIXED = "fixed"
    CSPRO = "cspro"
    EXCEL = "excel"
    REDATAM = "redatam"


#: What the ending of a file name says about its format.
FORMAT_OF_ENDING = {
    ".csv": FileFormat.CSV,
    ".txt": FileFormat.CSV,
    ".tsv": FileFormat.CSV,
    ".tab": FileFormat.CSV,
    ".parquet": FileFormat.PARQUET,
    ".pq": FileFormat.PARQUET,
    ".sav": FileFormat.SPSS,
    ".zsav": FileFormat.SPSS,
    ".dta": FileFormat.STATA,
    ".sas7bdat": FileFormat.SAS,
    ".dat": FileFormat.CSPRO,
    ".csdb": FileFormat.CSPRO,
    ".xlsx": FileFormat.EXCEL,
    ".xls": FileFormat.EXCEL,
    ".ods": FileFormat.EXCEL,
}


def is_cspro_database(path: Path) -> bool:
    """Whether a CSPro file is a database, which holds its own dictionary."""
    return path.suffix.lower() == ".csdb"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """One file of a census (or several with the same columns) and how to read it.

    ``paths`` are already resolved against the folder of the schema. Options that do not belong
    to the format are ignored; ``None`` means "find out".
    """

    paths: tuple[Path, ...]
    format: FileFormat
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    sheet: str | None = None
    layout: Path | None = None
    dictionary: Path | None = None
    record: str | None = None

    def named(self, name: str) -> tuple[Path, ...]:
        """Those of its files that are called so, with or without folders in front."""
        ending = f"/{name.replace(chr(92), '/').lstrip('/')}"
        return tuple(path for path in self.paths if f"/{path.as_posix()}".endswith(ending))
