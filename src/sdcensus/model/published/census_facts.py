"""What a file of published numbers says about the census that they are from. Public."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.text import Text


@dataclass(frozen=True, slots=True)
class CensusFacts:
    """Country, census, day and address of a table, for those who have only its file.

    Attributes:
        country: The country.
        name: The census.
        reference_date: The day that the numbers are about, as ISO text.
        link: Where the same table can be had again.
    """

    country: str = ""
    name: Text = Text()
    reference_date: str = ""
    link: str = ""

    @classmethod
    def of(cls, info: CensusInfo) -> CensusFacts:
        """What a schema says of its census."""
        return cls(info.country, Text.of(info.name), info.reference_date)

    def lines(self, language: str | None) -> Iterator[tuple[str, str]]:
        """What is known, in the words of a language, each behind what it is called in files."""
        for member, words in (
            ("country", self.country),
            ("census", self.name.show(language)),
            ("reference_date", self.reference_date),
            ("link", self.link),
        ):
            if words:
                yield member, words

    def to_json(self) -> dict[str, object]:
        """What is known, as plain values."""
        parts = {
            "country": self.country,
            "name": dict(self.name.by_language),
            "reference_date": self.reference_date,
            "link": self.link,
        }
        return {member: value for member, value in parts.items() if value}
