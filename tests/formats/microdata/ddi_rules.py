"""What the schema of DDI Codebook 2.5 asks of the elements that we write.

For each element: its children in their order, with how often each may stand, and the attributes
that it must or may have beside those that every element has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

NAMESPACE = "{ddi:codebook:2_5}"
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_INSTANCE = "{http://www.w3.org/2001/XMLSchema-instance}schemaLocation"

#: Children in order: ``?`` at most once, ``*`` any number, ``+`` at least once, else exactly once.
CHILDREN = {
    "codeBook": "docDscr* stdyDscr+ fileDscr* dataDscr* otherMat*",
    "docDscr": "citation? guide? docStatus? docSrc* controlledVocabUsed* notes*",
    "citation": "titlStmt rspStmt? prodStmt? distStmt? serStmt* verStmt* biblCit? holdings* notes*",
    "titlStmt": "titl subTitl* altTitl* parTitl* IDNo*",
    "rspStmt": "AuthEnty* othId*",
    "prodStmt": "producer* copyright? prodDate* prodPlac* software* fundAg* grantNo*",
    "distStmt": "distrbtr* contact* depositr* depDate* distDate?",
    "verStmt": "version? verResp* notes*",
    "stdyDscr": "citation+ studyAuthorization* stdyInfo* studyDevelopment* method* dataAccs*"
    " othrStdyMat* notes*",
    "stdyInfo": "studyBudget* subject* abstract* sumDscr* qualityStatement? notes*"
    " exPostEvaluation*",
    "sumDscr": "timePrd* collDate* nation* geogCover* geogUnit* geoBndBox? boundPoly? anlyUnit*"
    " universe* dataKind*",
    "method": "dataColl* notes* anlyInfo? stdyClas? dataProcessing* codingInstructions*",
    "dataColl": "timeMeth* dataCollector* collectorTraining* frequenc* sampProc* sampleFrame*"
    " targetSampleSize* deviat* collMode* resInstru* instrumentDevelopment* sources? collSitu*"
    " actMin* ConOps* weight* cleanOps*",
    "dataAccs": "setAvail* useStmt* notes*",
    "useStmt": "confDec? specPerm? restrctn? contact* citReq? deposReq? conditions? disclaimer?",
    "fileDscr": "fileTxt* locMap? notes*",
    "fileTxt": "fileName? fileCitation? fileCont? fileStrc? dimensns? fileType? format? filePlac?"
    " dataChck* ProcStat? dataMsng? software* verStmt?",
    "fileStrc": "recGrp* notes*",
    "dimensns": "caseQnty* varQnty* logRecL* recPrCas* recNumTot*",
    "dataDscr": "varGrp* nCubeGrp* var* nCube* notes*",
    "var": "location* labl* imputation? security? embargo? respUnit? anlysUnit? qstn* valrng*"
    " invalrng* undocCod* universe* TotlResp? sumStat* txt* stdCatgry* catgryGrp* catgry* codInstr*"
    " verStmt* concept* derivation? varFormat? geoMap* catLevel* notes*",
    "valrng": "item* range* key? notes*",
    "invalrng": "item* range* key? notes*",
    "catgry": "catValu? labl* txt* catStat* mrow?",
}
_YES_NO = "Y|N"
_WEIGHTED = {"wgtd": "wgtd|not-wgtd", "wgt-var": "IDREF"}
#: Attributes with what they may be; those with an exclamation mark must be there.
ATTRIBUTES: dict[str, dict[str, str]] = {
    "codeBook": {"version": "2.5", "codeBookAgency": ""},
    "timePrd": {"event": "start|end|single", "date": "", "cycle": ""},
    "fileDscr": {"URI": ""},
    "fileStrc": {"type": "rectangular|hierarchical|relational|nested|other"},
    "fileType": {"charset": ""},
    "var": {
        "name!": "",
        "wgt": "wgt|not-wgt",
        "wgt-var": "IDREF",
        "files": "IDREF",
        "dcml": "",
        "intrvl": "contin|discrete",
        "measUnit": "",
        "geog": _YES_NO,
    },
    "range": {"UNITS": "INT|REAL", "min": "", "max": ""},
    "item": {"UNITS": "INT|REAL", "VALUE!": ""},
    "sumStat": {"type!": "mean|medn|mode|vald|invd|min|max|stdev|other", **_WEIGHTED},
    "catStat": {"type": "freq|percent|crosstab|other", **_WEIGHTED},
    "catgry": {"missing": _YES_NO, "missType": ""},
    "varFormat": {"type": "character|numeric", "formatname": "", "schema": "", "category": ""},
}
_ID = re.compile(r"[A-Za-z_][\w.-]*")
_LANGUAGE_CODE = re.compile(r"[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*")


@dataclass(frozen=True)
class Problem:
    element: str
    text: str


def problems(root: Any) -> list[Problem]:
    """Where a document does not do what the schema asks."""
    listed: list[Problem] = []
    ids = [element.get("ID") for element in root.iter() if element.get("ID") is not None]
    listed += [Problem("ID", name) for name in ids if ids.count(name) > 1]
    for element in root.iter():
        listed += _element(element, set(ids))
    return listed


def _element(element: Any, ids: set[str]) -> list[Problem]:
    if not element.tag.startswith(NAMESPACE):
        return [Problem(element.tag, "is not of the namespace")]
    name = element.tag.removeprefix(NAMESPACE)
    listed = [Problem(name, text) for text in _attributes(element, name, ids)]
    rules = CHILDREN.get(name, "").split()
    children = [child.tag.removeprefix(NAMESPACE) for child in element]
    pattern = "".join(
        f"(?:{rule.rstrip('?*+')} ){rule[-1] if rule[-1] in '?*+' else ''}" for rule in rules
    )
    if not re.fullmatch(pattern, "".join(f"{child} " for child in children)):
        listed.append(Problem(name, f"children {children}"))
    if rules and (element.text or "").strip():
        listed.append(Problem(name, "has a text of its own"))
    if name in ("valrng", "invalrng") and not {"item", "range"} & set(children):
        listed.append(Problem(name, "is empty"))
    return listed


def _attributes(element: Any, name: str, ids: set[str]) -> list[str]:
    rules = {rule.rstrip("!"): allowed for rule, allowed in ATTRIBUTES.get(name, {}).items()}
    listed = [
        f"has no {rule[:-1]}"
        for rule in ATTRIBUTES.get(name, {})
        if rule.endswith("!") and element.get(rule[:-1]) is None
    ]
    for attribute, value in element.attrib.items():
        if attribute == "ID":
            good = bool(_ID.fullmatch(value))
        elif attribute == LANGUAGE:
            good = bool(_LANGUAGE_CODE.fullmatch(value))
        elif attribute == _INSTANCE:
            good = name == "codeBook"
        elif attribute not in rules:
            good = False
        elif rules[attribute] == "IDREF":
            good = set(value.split()) <= ids and bool(value)
        else:
            good = not rules[attribute] or value in rules[attribute].split("|")
        if not good:
            listed.append(f"{attribute}={value}")
    return listed
