"""The agreement of a licence, filled from its application and the file, to be printed and signed.

It holds who applies and for what, so only its owner can read it, and nothing is overwritten.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sdcensus.documents.release.document import read_release
from sdcensus.errors import InputError, OutputError, Refused, SpecError
from sdcensus.microdata.release.publication import VERSION
from sdcensus.microdata.release.words import census_texts, citation
from sdcensus.model.release.holding import Holding, HoldingState
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.text import Text
from sdcensus.report.release.terms import AgreementFields, TermsFields, agreement
from sdcensus.session.licence.register import LicenceRegister, day_or_today, usual_end
from sdcensus.session.licence.rules import registered_file
from sdcensus.session.office.people import iso_day, shown_name
from sdcensus.session.release.make.checking import read_manifest
from sdcensus.session.release.opened import schema_of
from sdcensus.store.owner_only import create_owner_only

#: Nobody signs an agreement about these any more.
_OVER = (HoldingState.REFUSED, HoldingState.EXCLUDED, HoldingState.ENDED)


def write_agreement(
    office: Path,
    number: str,
    release: Path,
    out: Path,
    *,
    template: Path | None = None,
    for_office: str = "",
    expires: str = "",
    date: str = "",
    language: str | None = None,
) -> Path:
    """Fill the agreement of a licence and write it as a page to print.

    Args:
        office: The office folder.
        number: The licence.
        release: The release document of the file, or the folder that was made of it.
        out: A new file.
        template: The office's own terms, with gaps.
        for_office: Who signs for the office.
        expires: The last day; what was agreed, or two years, if nothing is said.
        date: The first day; what was agreed, or today.
        language: Of our words.

    Raises:
        Refused: The licence is not for this file, was refused or is over, or the file is not
            registered or needs none.
    """
    holding = LicenceRegister(office).holding(number)
    terms, file = terms_of(release)
    day = day_or_today(date)
    _check_needed(holding, terms, file, day)
    registered_file(office, file)
    begins = holding.agreement.date if holding.agreement is not None and not date else day
    ends = iso_day(expires) or holding.expires or usual_end(begins)
    if ends <= begins:
        raise SpecError(f"A licence from {begins} cannot expire on {ends}.")
    applied = holding.application
    fields = AgreementFields(
        terms=terms,
        number=number,
        person=applied.applicant,
        organisation=applied.organisation,
        address=applied.email,
        team=", ".join(applied.members),
        project=applied.project,
        abstract=applied.abstract,
        begins=begins,
        ends=ends,
        file=f"{file} ({VERSION})",
        for_office=shown_name(for_office),
    )
    page = agreement(fields, language or "en", template=_template(template))
    try:
        create_owner_only(out, page.encode())
    except FileExistsError:
        raise OutputError(f"{out} already exists. Choose another name: --out FILE.") from None
    return out


def _check_needed(holding: Holding, terms: TermsFields, file: str, day: str) -> None:
    if terms.licence is LicenceClass.PUBLIC_USE:
        raise Refused(f"{file} is a public use file: nobody signs an agreement for it.")
    if file not in holding.application.files:
        wanted = ", ".join(holding.application.files)
        raise Refused(
            f"Licence {holding.number} is for {wanted}, not for {file}. Name the release document"
            " of a file that was applied for: --release FILE"
        )
    state = holding.state(day)
    if state in _OVER:
        raise Refused(f"Licence {holding.number} is {state}; there is nothing to sign.")


def _template(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeError:
        raise InputError(f"{path} is no UTF-8 text. Save the template as UTF-8.") from None


def terms_of(release: Path) -> tuple[TermsFields, str]:
    """What terms say about the file of a release document, or of a folder; and its short name."""
    if release.is_dir():
        manifest = read_manifest(release)
        return manifest_terms(manifest), str(manifest["release"])
    plan = read_release(release, schema_of)
    census, country = census_texts(schema_of(plan.store))
    title = plan.title or census
    terms = TermsFields(
        licence=plan.licence,
        title=title,
        producer=plan.producer,
        contact=plan.contact,
        citation=citation(plan.producer or country, title, census, VERSION),
    )
    return terms, plan.name


def manifest_terms(manifest: dict[str, Any]) -> TermsFields:
    """The same from what stands beside the file."""
    return TermsFields(
        licence=LicenceClass(manifest["licence"]),
        title=manifest_text(manifest, "title") or Text.of(str(manifest["release"])),
        producer=manifest_text(manifest, "producer"),
        contact=str(manifest.get("contact", "")),
        citation=manifest_text(manifest, "citation"),
    )


def manifest_text(manifest: dict[str, Any], name: str) -> Text:
    """A text of a manifest in its languages."""
    given = manifest.get(name) or {}
    return Text(tuple((str(language), str(text)) for language, text in given.items()))
