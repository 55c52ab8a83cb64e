"""What was found about a table of sums, in plain words."""

from __future__ import annotations

from sdcensus.model.quantities import share_text
from sdcensus.model.sentences import speak
from sdcensus.report.magnitude.blocks import method_text, percent_text
from sdcensus.report.magnitude.results import SumAssessment, SumStudy, SumStudyTable
from sdcensus.risk.magnitude.attackers import Attacker

#: From this share of cells of two contributors on, an assessment warns.
TOO_OFTEN = 0.5


def sum_lead(assessment: SumAssessment, language: str | None = None) -> str:
    """The conclusion in a few sentences."""
    figures = assessment.figures
    second, whole = figures.second, figures.whole
    percent = percent_text(figures.risk.within, language)
    said = [speak("sums.lead.none", language)]
    if second.cells:
        said = [
            speak(
                "sums.lead.second",
                language,
                p=percent,
                n=second.after,
                cells=second.cells,
                share=share_text(second.share(second.after), language),
                before=share_text(second.share(second.before), language),
            )
        ]
        if second.expected is not None:
            expected = share_text(second.share(second.expected), language)
            said.append(speak("sums.lead.expected", language, expected=expected))
    alone = figures.risk.of(Attacker.OUTSIDER).by_size[0]
    if alone.cells:
        after = share_text(alone.share(alone.after), language)
        said.append(speak("sums.lead.single", language, n=alone.cells, p=percent, after=after))
    if whole.mean is not None and whole.within is not None:
        mean, within = (share_text(share, language) for share in (whole.mean, whole.within[1]))
        said.append(speak("sums.lead.loss", language, mean=mean, within=within))
    return " ".join(said)


def sum_conclusions(assessment: SumAssessment, language: str | None = None) -> tuple[str, ...]:
    """What to know before signing."""
    figures = assessment.figures
    percent = percent_text(figures.risk.within, language)
    said = []
    two = figures.risk.of(Attacker.SECOND).by_size[1]
    share = two.share(two.after if two.expected is None else two.expected)
    if share is not None and share > TOO_OFTEN:
        said.append(speak("sums.conclude.near", language, p=percent))
    if figures.differences.people_found:
        people = figures.differences.people_found
        said.append(speak("sums.conclude.differences", language, p=percent, n=people))
    repeated = figures.repeated
    if repeated.by_mean > repeated.by_one:
        said.append(
            speak(
                "sums.conclude.repeated",
                language,
                p=percent,
                n=repeated.sets,
                found=repeated.by_mean,
            )
        )
    return tuple(said)


def study_lead(study: SumStudy) -> str:
    """What was compared."""
    methods = max(len(table.results) for table in study.tables)
    return speak(
        "sums.page.study_lead",
        study.language,
        methods=methods,
        tables=len(study.tables),
        p=percent_text(study.within, study.language),
    )


def study_sentences(study: SumStudy, table: SumStudyTable) -> tuple[str, ...]:
    """The two ends of the choice on one table."""
    judged = [
        (result.height, result.figures.loss, method_text(result, study.language))
        for result in table.results
        if result.height is not None and result.figures.loss is not None
    ]
    if not judged:
        return ()
    ends = {
        "best": min(judged, key=lambda each: (each[0] or 0.0, each[1] or 0.0)),
        "near": min(judged, key=lambda each: (each[1] or 0.0, each[0] or 0.0)),
    }
    return tuple(
        speak(
            f"sums.page.{key}",
            study.language,
            method=label,
            risk=share_text(risk, study.language),
            loss=share_text(loss, study.language),
        )
        for key, (risk, loss, label) in ends.items()
    )
