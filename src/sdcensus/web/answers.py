"""A finished answer: bytes in one form and language, and what must be known to hand it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import JSON_STAT
from sdcensus.web.security import content_disposition

Header = tuple[bytes, bytes]
Json = dict[str, Any]

#: What answers depend on besides their address.
VARY = b"Accept, Accept-Encoding, Accept-Language, Authorization, Cookie"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question is not answered, in one language. Public."""

    reasons: Sequence[Json]
    remedies: Sequence[Json]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CachedAnswer:
    """A finished answer.

    Attributes:
        body: The content.
        zipped: The content packed; ``None`` where that is not worth it.
        media_type: Of the content.
        format: In which form it is.
        language: In which language.
        filename: Under which name it is saved.
        etag: The strong tag of the content, without quotation marks.
        question: The text of the question.
        link: The address of this table in the API.
        spec: The table in the sense of policy and watch.
        spec_hash: Its hash.
        cells: How many cells it has.
        outcome: ``allowed``, ``withheld`` or ``refused``.
        codes: The codes of the reasons.
        refusal: The reasons, where there is no content.
        milliseconds: How long it took to make.
    """

    body: bytes
    zipped: bytes | None
    media_type: str
    format: str
    language: str
    filename: str
    etag: str
    question: str
    link: str
    spec: TableSpec | None
    spec_hash: str
    cells: int
    outcome: str
    codes: tuple[str, ...] = ()
    refusal: Refusal | None = None
    milliseconds: int = 0

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.body) + len(self.zipped or b"") + 2 * len(self.question)

    def without_body(self) -> CachedAnswer:
        """The same without its content, which is kept elsewhere."""
        return replace(self, body=b"", zipped=None)

    def with_body(self, body: bytes, zipped: bytes | None) -> CachedAnswer:
        """The same with its content again."""
        return replace(self, body=body, zipped=zipped)

    def tag(self, *, packed: bool) -> bytes:
        """The tag of the content as it is sent: packed content is other content."""
        return f'"{self.etag}{"-gz" if packed else ""}"'.encode("ascii")

    def is_known(self, if_none_match: str) -> bool:
        """Whether the one who asks has this content already."""
        return is_known(self.etag, if_none_match)

    def headers(self, *, private: bool, seconds: int, packed: bool) -> list[Header]:
        """The headers of the answer.

        Args:
            private: Whether it is for one account: others must not be given it.
            seconds: For how long it may be kept.
            packed: Whether the packed content is sent.
        """
        scope = b"private" if private else b"public"
        headers = [
            (b"etag", self.tag(packed=packed)),
            (b"cache-control", scope + b", max-age=%d" % seconds),
            (b"vary", VARY),
            (b"content-language", self.language.encode("ascii")),
            (b"link", b'</about>; rel="describedby"'),
        ]
        # JSON is also looked at in browsers; whoever saves it gets a name that says what it is.
        disposition = content_disposition(self.filename, inline=self.format == JSON_STAT)
        headers.append((b"content-disposition", disposition.encode("latin-1")))
        return headers

    def content_headers(self, *, packed: bool) -> list[Header]:
        """The headers of the content itself."""
        length = len(self.zipped or b"") if packed else len(self.body)
        headers = [
            (b"content-type", self.media_type.encode("latin-1")),
            (b"content-length", b"%d" % length),
        ]
        if packed:
            headers.append((b"content-encoding", b"gzip"))
        return headers


def is_known(etag: str, if_none_match: str) -> bool:
    """Whether a header ``If-None-Match`` names some content, packed or not, weakly or not.

    Examples:
        >>> is_known("ab", 'W/"ab-gz", "x"'), is_known("ab", "*"), is_known("ab", '"abc"')
        (True, True, False)
    """
    if not if_none_match:
        return False
    known = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return bool(known & {"*", f'"{etag}"', f'"{etag}-gz"'})


@lru_cache(maxsize=1_000)
def accepts_packed(header: str) -> bool:
    """Whether somebody can read packed content.

    Examples:
        >>> accepts_packed("br, gzip"), accepts_packed("gzip;q=0"), accepts_packed("")
        (True, False, False)
    """
    for coding in header[:500].lower().split(","):
        name, _, parameters = coding.partition(";")
        if name.strip() in ("gzip", "*"):
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
