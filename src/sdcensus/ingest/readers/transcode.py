"""Text of any encoding as a stream of UTF-8 bytes, without ever holding the whole file."""

from __future__ import annotations

import codecs
import io
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.ingest.readers.files import text_encoding

_CHUNK = 1 << 20
_UTF8_MARK = codecs.BOM_UTF8
#: What programs of DOS wrote behind the last line of a text.
_DOS_END = b"\x1a"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Utf8Stream(io.RawIOBase):
    """Reads a text file as UTF-8: without byte order mark, refusing NUL and what does not decode.

    The mark with which DOS ended texts is left out.

    UTF-8 itself is passed through as it is; whoever reads the bytes checks them, because only
    the columns that are asked for need to be right.

    Args:
        path: The file.
        encoding: Its encoding, by any name that Python knows.
        skip: How many bytes of the UTF-8 text to leave out at the start (a header).
        tail: What to append after the end of the file.
        decode: Whether to make UTF-8 of it; if not, the bytes are those of the file.
    """

    def __init__(
        self,
        path: Path,
        encoding: str,
        *,
        skip: int = 0,
        tail: bytes = b"",
        decode: bool = True,
    ) -> None:
        super().__init__()
        self._path = path
        self._encoding = text_encoding(encoding, file=path.name)
        self._is_utf8 = self._encoding in ("utf-8", "utf-8-sig")
        self._decoder: codecs.IncrementalDecoder | None = None
        if decode and not self._is_utf8:
            self._decoder = codecs.getincrementaldecoder(self._encoding)("strict")
        self._skip, self._tail = skip, tail
        self._left = memoryview(b"")
        self._offset, self._line = 0, 1
        self._begun = self._ended = False
        try:
            self._raw = io.FileIO(path, "rb")
            self._unread = self._raw.seek(0, io.SEEK_END)
            if self._unread and self._ends_with_mark():
                self._unread -= 1
            self._raw.seek(0)
        except OSError as error:
            raise InputError(f"{path} cannot be opened: {error.strerror}.") from error

    def readable(self) -> bool:
        """Whether the stream can be read: yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the next piece of text goes; 0 at the end."""
        if not self._left and not self._advance():
            return 0
        taken = min(len(buffer), len(self._left))
        buffer[:taken] = self._left[:taken]
        self._left = self._left[taken:]
        return taken

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to ``size`` bytes, fewer only at the end of the file."""
        wanted = size if size is not None and size >= 0 else None
        parts: list[memoryview] = []
        have = 0
        while (wanted is None or have < wanted) and (self._left or self._advance()):
            part = self._left if wanted is None else self._left[: wanted - have]
            parts.append(part)
            have += len(part)
            self._left = self._left[len(part) :]
        return b"".join(parts)

    def close(self) -> None:
        """Close the file as well."""
        # There is no file where the stream could not be made; Python closes it all the same.
        if not self.closed and hasattr(self, "_raw"):
            self._raw.close()
        super().close()

    def _advance(self) -> bool:
        """Make the next piece of text ready; False at the end."""
        while not self._ended:
            piece = self._next_piece()
            if b"\0" in piece:
                raise InputError(self._about_nul())
            skipped = min(self._skip, len(piece))
            self._skip -= skipped
            if len(piece) > skipped:
                self._left = memoryview(piece)[skipped:]
                return True
        self._left, self._tail = memoryview(self._tail), b""
        return len(self._left) > 0

    def _ends_with_mark(self) -> bool:
        """Whether the file ends as DOS ended texts, in an encoding in which that is one byte."""
        self._raw.seek(-1, io.SEEK_END)
        return (
            self._raw.read(1) == _DOS_END
            and _DOS_END.decode("ascii").encode(self._encoding.removesuffix("-sig")) == _DOS_END
        )

    def _next_piece(self) -> bytes:
        raw = self._raw.read(min(_CHUNK, self._unread)) if self._unread else b""
        self._unread -= len(raw)
        self._ended = not raw
        if not self._begun:
            self._check_mark(raw)
        text = raw if self._decoder is None else self._decode(raw)
        if not self._begun and text:
            self._begun = True
            # These two take the mark away themselves.
            if self._encoding not in ("utf-16", "utf-32"):
                text = text.removeprefix(_UTF8_MARK)
        return text

    def _decode(self, raw: bytes) -> bytes:
        assert self._decoder is not None
        try:
            text = self._decoder.decode(raw, final=not raw)
            converted = text.encode("utf-8")
        except UnicodeError as error:
            byte, line = _place(error, raw, self._offset, self._line)
            raise InputError(undecodable(self._path, self._encoding, byte, line)) from error
        self._offset += len(raw)
        self._line += text.count("\n")
        return converted

    def _check_mark(self, raw: bytes) -> None:
        if self._is_utf8 and raw.startswith(_UTF16_MARKS):
            begins, right = "like UTF-16", "utf-16"
        elif not self._is_utf8 and raw.startswith(_UTF8_MARK):
            begins, right = "with the mark of UTF-8", "utf-8"
        else:
            return
        raise InputError(
            f"{self._path.name}: the file begins {begins}, but encoding is "
            f'"{self._encoding}". Try encoding = "{right}".'
        )

    def _about_nul(self) -> str:
        return (
            f"{self._path.name}: the file holds NUL characters, so it is damaged or not a text "
            f'file in encoding "{self._encoding}". If it was saved as Unicode by Excel or '
            'Notepad, try encoding = "utf-16".'
        )


def _place(error: UnicodeError, raw: bytes, offset: int, line: int) -> tuple[int, int]:
    """The byte (from 1) and the line at which decoding stopped."""
    if not isinstance(error, UnicodeDecodeError):
        return offset + 1, line
    carried = len(error.object) - len(raw)
    before = error.object[: error.start]
    return offset - carried + error.start + 1, line + before.count(b"\n")


def undecodable(path: Path, encoding: str, byte: int, line: int) -> str:
    """Say where a file stops being text in its encoding, and what to try."""
    others = [other for other in ("utf-8", "cp1252", "latin-1") if other != encoding]
    tries = " or ".join(f'encoding = "{other}"' for other in others[:2])
    return (
        f'{path.name}: byte {byte} (line {line}) is not text in encoding "{encoding}". Try {tries}.'
    )


def first_invalid_utf8(path: Path) -> tuple[int, int] | None:
    """The first byte (from 1) of a file that is not UTF-8 and its line, or None."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    offset, line = 0, 1
    with path.open("rb") as stream:
        while True:
            raw = stream.read(_CHUNK)
            try:
                decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                return _place(error, raw, offset, line)
            if not raw:
                return None
            offset += len(raw)
            line += raw.count(b"\n")
