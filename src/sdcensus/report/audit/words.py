"""An audit in words: numbers with their decimals, proofs as sums, and what to make of it."""

from __future__ import annotations

from fractions import Fraction

from sdcensus.model.quantities import number_text, written_as
from sdcensus.model.sentences import speak
from sdcensus.report.audit.results import AuditedCell, AuditFindings, Proof, ProofTerm
from sdcensus.solvers.audit.certificate import Side
from sdcensus.solvers.audit.intervals import CellStatus

#: Cells of a proof that are named; a longer one says how many more there are.
MOST_TERMS = 12


def amount_text(number: int | None, decimals: int, language: str | None = None) -> str:
    """A value with its decimals; a sign where there is none.

    Examples:
        >>> amount_text(1250, 2), amount_text(-5, 1), amount_text(None, 0)
        ('12.50', '-0.5', '∞')
    """
    if number is None:
        return "∞"
    if not decimals:
        return number_text(number, language)
    sign, digits = ("-" if number < 0 else ""), str(abs(number)).rjust(decimals + 1, "0")
    return written_as(f"{sign}{digits[:-decimals]}.{digits[-decimals:]}", language)


def interval_text(cell: AuditedCell, decimals: int, language: str | None = None) -> str:
    """The interval of a cell."""
    low = "-∞" if cell.lower is None else amount_text(cell.lower, decimals, language)
    return f"[{low}, {amount_text(cell.upper, decimals, language)}]"


def status_text(status: CellStatus, language: str | None = None) -> str:
    """What became of a cell, in a word or two."""
    return speak(f"audit.status.{status.name.lower()}", language)


def proof_text(proof: Proof, decimals: int, language: str | None = None) -> str:
    """A proof as a sum that anybody can do."""
    if proof.elsewhere:
        return speak("audit.proof.elsewhere", language, table=proof.elsewhere)
    sign = {None: "=", Side.LOWER: "≥", Side.UPPER: "≤"}[proof.side]
    terms = [_term(term, decimals, language) for term in proof.published[:MOST_TERMS]]
    text = f"{sign} {_joined(terms)}" if terms else f"{sign} 0"
    left = len(proof.published) - MOST_TERMS
    if left > 0:
        text += " " + speak("audit.proof.more", language, n=left)
    if proof.zeros:
        name = "zeros" if proof.zeros > 1 else "zero"
        text += " " + speak(f"audit.proof.{name}", language, n=proof.zeros)
    if proof.slack:
        text += " " + speak(
            "audit.proof.slack", language, n=_fraction(proof.slack, decimals, language)
        )
    if proof.withheld:
        named = [_bounded(term, proof.side, decimals, language) for term in proof.withheld]
        text += "; " + speak("audit.proof.as", language, what=", ".join(named[:MOST_TERMS]))
        if len(named) > MOST_TERMS:
            text += " " + speak("audit.proof.more", language, n=len(named) - MOST_TERMS)
    return text


def _term(term: ProofTerm, decimals: int, language: str | None) -> tuple[bool, str]:
    times = abs(term.factor)
    often = "" if times == 1 else f"{times} × "
    return term.factor < 0, f"{often}{amount_text(term.value, decimals, language)} [{term.cell}]"


def _joined(terms: list[tuple[bool, str]]) -> str:
    text = ("−" if terms[0][0] else "") + terms[0][1]
    for negative, term in terms[1:]:
        text += f" {'−' if negative else '+'} {term}"
    return text


def _bounded(term: ProofTerm, side: Side | None, decimals: int, language: str | None) -> str:
    below = (term.factor > 0) == (side is Side.LOWER)
    return f"[{term.cell}] {'≥' if below else '≤'} {amount_text(term.value, decimals, language)}"


def _fraction(number: Fraction, decimals: int, language: str | None) -> str:
    if number.denominator == 1:
        return amount_text(number.numerator, decimals, language)
    return str(number)


def lead(findings: AuditFindings, language: str | None = None) -> str:
    """What was found, in a sentence."""
    withheld, disclosed = len(findings.cells), findings.count(CellStatus.DISCLOSED)
    if not withheld:
        return speak("audit.lead.nothing", language)
    if disclosed:
        name = "audit.lead.disclosed" if disclosed > 1 else "audit.lead.disclosed_one"
    elif findings.count(CellStatus.APPROXIMATE):
        name = "audit.lead.near"
    else:
        name = "audit.lead.protected"
    return speak(
        name,
        language,
        n=disclosed,
        near=findings.count(CellStatus.APPROXIMATE),
        withheld=withheld,
    )


def scope(findings: AuditFindings, language: str | None = None) -> list[str]:
    """For whom this is said, and on what it rests."""
    lines = [
        speak("audit.scope.atoms", language, n=findings.atoms)
        if findings.atoms
        else speak("audit.scope.sums", language)
    ]
    lines.append(speak("audit.scope.whole" if findings.whole else "audit.scope.linear", language))
    if findings.tolerance:
        shown = amount_text(findings.tolerance, findings.decimals, language)
        lines.append(speak("audit.scope.tolerance", language, n=shown))
    if findings.fractional and not findings.whole:
        lines.append(speak("audit.scope.fractional", language, n=findings.fractional))
    if findings.unproven:
        lines.append(speak("audit.scope.unproven", language, n=findings.unproven))
    if findings.wrong:
        lines.append(speak("audit.scope.wrong", language, n=findings.wrong))
    lines.append(speak("audit.scope.only", language))
    return [*lines, *findings.notes]


def near_text(findings: AuditFindings, language: str | None = None) -> str:
    """When a cell counts as nearly disclosed."""
    parts = []
    if findings.percent:
        parts.append(speak("audit.near.percent", language, n=f"{float(findings.percent):g}"))
    if findings.width:
        shown = amount_text(findings.width, findings.decimals, language)
        parts.append(speak("audit.near.width", language, n=shown))
    if findings.levels:
        parts.append(speak("audit.near.own", language))
    return "; ".join(parts) or speak("audit.near.never", language)
