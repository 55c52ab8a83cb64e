"""What readers get where the office publishes its matrices, and when it may not."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Sequence

from sdcensus.errors import Refused
from sdcensus.microdata.method import PublicPaper
from sdcensus.microdata.pram.design import depends_on_counts
from sdcensus.microdata.pram.settings import TargetSettings
from sdcensus.microdata.pram.targets import TOGETHER, Target
from sdcensus.model.perturbation.transition_matrix import TransitionMatrix
from sdcensus.model.published.transitions import PublishedMatrix
from sdcensus.model.sentences import speak
from sdcensus.model.text import LANGUAGES


def check_publication(
    chosen: Sequence[TargetSettings], named: Sequence[str], *, invariant: bool
) -> None:
    """Refuse to publish matrices that are computed from true counts, unless they are named.

    Raises:
        Refused: A matrix would tell true counts, and the office has not said that it may.
    """
    allowed = {TOGETHER.join(sorted(name.split(TOGETHER))) for name in named}
    telling = [
        said.target
        for said in chosen
        if depends_on_counts(said, invariant=invariant) and said.target.name not in allowed
    ]
    if not telling:
        return
    listed = ", ".join(target.name for target in telling)
    remedies = ["leave --invariant away"] if invariant else []
    if any(target.is_compound for target in telling):
        remedies.append("name variables in --variables instead of --together")
    remedies += ["choose --similar equal or neighbours, or give a matrix by --matrix"]
    raise Refused(
        f"The matrix of {listed} cannot be published: it is computed from true counts (invariant,"
        " by frequency, or of combinations that occur), and whoever reads it can compute how many"
        f" records each code has. Either {' and '.join(remedies)}; or keep it in the office,"
        " without --publish-matrix; or say by name that these counts may be known:"
        f" --publish-frequencies {','.join(target.name for target in telling)}."
    )


def papers_of(
    matrices: Sequence[tuple[Target, TransitionMatrix]], ruled: Collection[str]
) -> tuple[PublicPaper, ...]:
    """The matrices as csv and json, and how to estimate with them, in every language.

    Args:
        matrices: The targets with their matrices, as they were designed.
        ruled: The variables that edit rules name.
    """
    published = [
        PublishedMatrix.of(
            [variable.name for variable in target.variables],
            matrix.codes,
            matrix.probabilities.tolist(),
        )
        for target, matrix in matrices
    ]
    papers = [
        PublicPaper(name=matrix_file(matrix.variables), content=_csv(matrix))
        for matrix in published
    ]
    content = {"method": "pram", "matrices": [matrix.to_json() for matrix in published]}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    papers.append(PublicPaper(name="pram-matrix.json", content=text))
    names = [name for matrix in published for name in matrix.variables]
    careful = sorted(set(names) & set(ruled))
    for language in LANGUAGES:
        papers.append(
            PublicPaper(
                name=f"pram-matrix.{language}.txt",
                content=_about(published, names, careful, language),
            )
        )
    return tuple(papers)


def matrix_file(variables: Sequence[str]) -> str:
    """The name of the file of a matrix."""
    return f"pram-matrix-{TOGETHER.join(variables)}.csv"


def _csv(matrix: PublishedMatrix) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(matrix.lines())
    return text.getvalue()


def _about(
    published: Sequence[PublishedMatrix],
    names: Sequence[str],
    careful: Sequence[str],
    language: str,
) -> str:
    first = published[0]
    listed = ", ".join(names)
    paragraphs = [
        speak("pram.paper.title", language),
        speak("pram.paper.what", language, variables=listed),
        speak("pram.paper.how", language),
        speak(
            "pram.paper.command",
            language,
            variable=TOGETHER.join(first.variables),
            file=matrix_file(first.variables),
        ),
        speak("pram.paper.error", language),
    ]
    if any(len(matrix.variables) > 1 for matrix in published):
        paragraphs.append(speak("pram.paper.together", language))
    if careful:
        paragraphs.append(speak("pram.paper.rules", language, variables=", ".join(careful)))
    paragraphs.append(speak("pram.paper.noise", language))
    return "\n\n".join(paragraphs) + "\n"
