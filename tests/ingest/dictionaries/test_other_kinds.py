"""Dictionaries of CSPro, SPSS, Stata, DDI and Survey Solutions give the same small model."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.entries import Dictionary, DictionaryRange, DictionaryVariable
from sdcensus.ingest.dictionaries.opening import DictionaryOptions, open_dictionary
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import Text
from tests.ingest.readers.cspro_database import write_csdb
from tests.ingest.readers.test_cspro_database import DICTIONARY as CSPRO
from tests.ingest.readers.writers import write_dta, write_sav

FILES = CensusColumns({"person": ("SEX", "AGE", "RENT"), "housing": ("RENT", "ROOM_1")})


def read(path: Path) -> Dictionary:
    return open_dictionary(path, DictionaryOptions(files=FILES))


def entry(dictionary: Dictionary, name: str) -> DictionaryVariable:
    return next(variable for variable in dictionary.variables if variable.name == name)


def labels(variable: DictionaryVariable) -> dict[str, str]:
    return {code.code: code.label.show() for code in variable.codes}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


# ---------------------------------------------------------------- CSPro


def test_a_cspro_dictionary_and_the_database_that_holds_it(tmp_path: Path) -> None:
    dcf = read(write(tmp_path / "c.dcf", json.dumps(CSPRO)))
    database = read(write_csdb(tmp_path / "c.csdb", CSPRO, []))
    assert dcf.variables == database.variables
    sex, age = entry(dcf, "SEX"), entry(dcf, "AGE")
    assert (sex.table, entry(dcf, "RENT").table) == ("person", "housing")
    assert dcf.languages == ("es", "en")
    assert sex.label == Text.of({"es": "Sexo", "en": "Sex"})
    assert [code.label.show("en") for code in sex.codes] == ["Male", "Female"]
    # A long range is one of numbers, and its label is none of each number.
    assert [(span.low, span.high) for span in age.ranges] == [(0, 120)]
    assert [(code.code, code.kind) for code in age.codes] == [("999", CodeKind.NOT_STATED)]


def test_the_older_dictionary_of_cspro_in_two_languages(tmp_path: Path) -> None:
    text = (
        "[Dictionary]\nVersion=CSPro 7.7\nLabel=Censo\nName=CENSO\nRecordTypeStart=0\n"
        "RecordTypeLen=0\nPositions=Relative\n\n[Languages]\nES=Español\nEN=English\n\n[Level]\n"
        "Label=Q\nName=Q\n\n[IdItems]\n\n[Item]\nLabel=Id\nName=ID\nStart=1\nLen=3\n\n[Record]\n"
        "Label=Persona|Person\nName=PERSON\nRecordLen=9\n\n[Item]\nLabel=Sexo|Sex\nName=SEX\n"
        "Start=4\nLen=1\n\n[ValueSet]\nLabel=Sexo\nName=SEX_VS1\nValue=1;Hombre|Male\n"
        "Value=2;Mujer|Female\nValue=9;Ignorado|Unknown\n"
    )
    sex = entry(read(write(tmp_path / "c.dcf", text)), "SEX")
    assert sex.label == Text.of({"es": "Sexo", "en": "Sex"})
    assert [code.label.show("en") for code in sex.codes] == ["Male", "Female", "Unknown"]
    assert sex.codes[2].kind is CodeKind.NOT_STATED


# ---------------------------------------------------------------- SPSS and Stata


def test_labels_of_spss_and_stata_files_without_their_records(tmp_path: Path) -> None:
    sav = write_sav(
        tmp_path / "person.sav",
        {"SEX": [1.0, 2.0], "AGE": [3.0, 99.0]},
        labels={"SEX": "Sexo de la persona", "AGE": "Edad"},
        value_labels={"SEX": {1.0: "Hombre", 2.0: "Mujer"}},
        missing={"AGE": [99.0]},
    )
    dta = write_dta(
        tmp_path / "person.dta",
        {"SEX": ("byte", [1, 2])},
        labels={"SEX": "Sexo de la persona"},
        value_labels={"SEX": {1: "Hombre", 2: "Mujer"}},
    )
    for path in (sav, dta):
        sex = entry(read(path), "SEX")
        assert (sex.table, sex.label.by_language) == ("person", (("es", "Sexo de la persona"),))
        assert labels(sex) == {"1": "Hombre", "2": "Mujer"}
    age = entry(read(sav), "AGE")
    assert [(code.code, code.kind) for code in age.codes] == [("99", CodeKind.NOT_STATED)]


SPS = """* Etiquetas del censo.
VARIABLE LABELS SEX 'Sexo de la persona'
  /AGE "Edad de la persona, en a""os"
  /P01 TO P03 'Sabe leer'.
VALUE LABELS SEX 1 'Hombre' 2 'Mujer' 9 'Ignorado'
  /P01 P02 P03 1 'Sí' 2 'No / no sabe'.
ADD VALUE LABELS AGE 98 '98 y más'.
MISSING VALUES SEX (9) / AGE (-9 THRU -7, 99).
FREQUENCIES SEX.
"""
DO = """* Labels
#delimit cr
capture label variable SEX `"Sexo "de" la persona"'
la var AGE "Edad de la persona"   // years
label define l_sex 1 "Hombre" 2 "Mujer" ///
    9 "Ignorado", replace
lab val SEX l_sex
#delimit ;
label define yesno
  1 "Sí"
  2 "No"
;
label values P01 P02 yesno;
"""


def test_commands_of_spss(tmp_path: Path) -> None:
    dictionary = read(write(tmp_path / "person.sps", SPS))
    assert labels(entry(dictionary, "SEX")) == {"1": "Hombre", "2": "Mujer", "9": "Ignorado"}
    assert entry(dictionary, "AGE").label.show() == 'Edad de la persona, en a"os'
    for name in ("P01", "P02", "P03"):
        assert entry(dictionary, name).label.show() == "Sabe leer"
        assert labels(entry(dictionary, name)) == {"1": "Sí", "2": "No / no sabe"}
    missing = [c.code for c in entry(dictionary, "AGE").codes if c.kind is not CodeKind.VALID]
    assert missing == ["-9", "-8", "-7", "99"]
    assert dictionary.language == "es"


def test_commands_of_stata(tmp_path: Path) -> None:
    dictionary = read(write(tmp_path / "person.do", DO))
    assert entry(dictionary, "SEX").label.show() == 'Sexo "de" la persona'
    assert labels(entry(dictionary, "SEX")) == {"1": "Hombre", "2": "Mujer", "9": "Ignorado"}
    assert entry(dictionary, "AGE").label.show() == "Edad de la persona"
    assert labels(entry(dictionary, "P01")) == labels(entry(dictionary, "P02"))
    assert labels(entry(dictionary, "P01")) == {"1": "Sí", "2": "No"}
    with pytest.raises(InputError, match="no labels were found"):
        read(write(tmp_path / "other.do", "use x\nsummarize\n"))


# ---------------------------------------------------------------- DDI

CODEBOOK = """<?xml version="1.0" encoding="UTF-8"?>
<codeBook xmlns="ddi:codebook:2_5" version="2.5">
 <fileDscr ID="F1"><fileTxt><fileName>person.NSDstat</fileName></fileTxt></fileDscr>
 <dataDscr>
  <var ID="V1" name="SEX" files="F1" intrvl="discrete">
   <location width="1"/>
   <labl>Sexo de la persona</labl><labl xml:lang="en">Sex</labl>
   <qstn><qstnLit>¿Es hombre o mujer?</qstnLit></qstn>
   <valrng><range UNITS="REAL" min="1" max="9"/></valrng>
   <catgry><catValu>1</catValu><labl>Hombre</labl><labl xml:lang="en">Male</labl>
    <catStat type="freq">12345</catStat></catgry>
   <catgry><catValu>2</catValu><labl>Mujer</labl><labl xml:lang="en">Female</labl></catgry>
   <catgry missing="Y"><catValu>9</catValu><labl>Otro</labl></catgry>
  </var>
  <var ID="V2" name="AGE" files="F1"><labl>Edad de la persona</labl>
   <valrng><range min="0.0" max="110.0"/></valrng><invalrng><item VALUE="999"/></invalrng></var>
  <var ID="V3" name="RENT" files="F1"><qstn><qstnLit>¿Cuánto paga?</qstnLit></qstn></var>
 </dataDscr>
</codeBook>
"""
LIFECYCLE = """<?xml version="1.0"?>
<ddi:DDIInstance xmlns:ddi="ddi:instance:3_2" xmlns:l="ddi:logicalproduct:3_2"
 xmlns:r="ddi:reusable:3_2">
 <l:Category><r:ID>c1</r:ID><r:Label><r:Content xml:lang="es">Hombre</r:Content></r:Label>
 </l:Category>
 <l:Category><r:ID>c2</r:ID><r:Label><r:Content xml:lang="es">Mujer</r:Content></r:Label>
 </l:Category>
 <l:CodeList><r:ID>l1</r:ID>
  <l:Code><r:ID>k1</r:ID><r:CategoryReference><r:ID>c1</r:ID></r:CategoryReference>
   <r:Value>1</r:Value></l:Code>
  <l:Code><r:ID>k2</r:ID><r:CategoryReference><r:ID>c2</r:ID></r:CategoryReference>
   <r:Value>2</r:Value></l:Code></l:CodeList>
 <l:Variable><r:ID>v1</r:ID><l:VariableName><r:String>SEX</r:String></l:VariableName>
  <r:Label><r:Content xml:lang="es">Sexo</r:Content>
   <r:Content xml:lang="en">Sex</r:Content></r:Label>
  <l:VariableRepresentation><r:CodeRepresentation><r:CodeListReference><r:ID>l1</r:ID>
  </r:CodeListReference></r:CodeRepresentation></l:VariableRepresentation></l:Variable>
 <l:Variable><r:ID>v2</r:ID><l:VariableName><r:String>AGE</r:String></l:VariableName>
  <l:VariableRepresentation><r:NumericRepresentation><r:NumberRange><r:Low>0</r:Low>
  <r:High>110</r:High></r:NumberRange></r:NumericRepresentation></l:VariableRepresentation>
 </l:Variable>
</ddi:DDIInstance>
"""


def test_a_codebook(tmp_path: Path) -> None:
    dictionary = read(write(tmp_path / "ddi.xml", CODEBOOK))
    sex, age = entry(dictionary, "SEX"), entry(dictionary, "AGE")
    assert (sex.table, dictionary.languages) == ("person", ("es", "en"))
    assert sex.label == Text.of({"es": "Sexo de la persona", "en": "Sex"})
    assert labels(sex) == {"1": "Hombre", "2": "Mujer", "9": "Otro"}
    assert sex.codes[2].kind is CodeKind.NOT_STATED
    assert sex.ranges == ()
    assert age.ranges == (DictionaryRange(0, 110),)
    assert age.codes[0].kind is CodeKind.NOT_STATED
    assert entry(dictionary, "RENT").label.show() == "¿Cuánto paga?"


def test_an_earlier_codebook_without_namespace(tmp_path: Path) -> None:
    plain = CODEBOOK.replace(' xmlns="ddi:codebook:2_5"', "").replace(
        "<codeBook", '<!DOCTYPE codeBook SYSTEM "ddi1.dtd">\n<codeBook', 1
    )
    assert (
        read(write(tmp_path / "old.xml", plain)).variables
        == read(write(tmp_path / "new.xml", CODEBOOK)).variables
    )


def test_the_lifecycle_form(tmp_path: Path) -> None:
    dictionary = read(write(tmp_path / "ddi.xml", LIFECYCLE))
    assert entry(dictionary, "SEX").label == Text.of({"es": "Sexo", "en": "Sex"})
    assert labels(entry(dictionary, "SEX")) == {"1": "Hombre", "2": "Mujer"}
    assert entry(dictionary, "AGE").ranges == (DictionaryRange(0, 110),)


def test_documents_that_are_no_dictionaries_are_refused(tmp_path: Path) -> None:
    for text, words in (
        ("<a><b></a>", "line 1 is not well-formed"),
        ("<a/>", "describes no variables"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "defines entities"),
    ):
        with pytest.raises(InputError, match=words):
            read(write(tmp_path / "d.xml", text))


# ---------------------------------------------------------------- Survey Solutions

EXPORTED_DO = """insheet using "person.tab", tab case names

label variable interview__id `"Unique 32-character long identifier of the interview"'

label define SEX 1 `"Hombre"' 2 `"Mujer"'
label values SEX SEX
label variable SEX `"Sexo de la persona"'

label variable AGE `"Edad"'
"""
QUESTIONNAIRE = {
    "Title": "Censo",
    "Children": [
        {
            "$type": "Group, Main.Core",
            "Title": "Hogar",
            "IsRoster": False,
            "Children": [
                {
                    "$type": "NumericQuestion, Main.Core",
                    "QuestionText": "Renta de la <b>vivienda</b>",
                    "StataExportCaption": "RENT",
                    "VariableLabel": "",
                },
                {
                    "$type": "Group, Main.Core",
                    "IsRoster": True,
                    "VariableName": "person",
                    "Children": [
                        {
                            "$type": "SingleQuestion, Main.Core",
                            "QuestionText": "¿Sexo?",
                            "StataExportCaption": "SEX",
                            "VariableLabel": "Sexo de la persona",
                            "Answers": [
                                {"AnswerText": "Hombre", "AnswerValue": "1"},
                                {"AnswerText": "Mujer", "AnswerValue": "2"},
                            ],
                        },
                        {
                            "$type": "MultyOptionsQuestion, Main.Core",
                            "QuestionText": "Bienes",
                            "StataExportCaption": "OWN",
                            "Answers": [{"AnswerText": "Auto", "AnswerValue": "1"}],
                        },
                    ],
                },
            ],
        }
    ],
}


def export(folder: Path) -> Path:
    folder.mkdir()
    write(folder / "person.do", EXPORTED_DO)
    write(folder / "person.tab", "interview__id\tSEX\n")
    write(folder / "export__readme.txt", "Generated by Survey Solutions export module")
    write(folder / "interview__actions.do", 'label variable action `"Type"\'\n')
    (folder / "Questionnaire").mkdir()
    with zipfile.ZipFile(folder / "Questionnaire" / "content.zip", "w") as archive:
        archive.writestr("document.json", json.dumps(QUESTIONNAIRE))
    return folder


def zipped(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        for member in folder.rglob("*"):
            if member.is_file():
                archive.write(member, member.relative_to(folder).as_posix())
    return path


def test_an_export_of_survey_solutions_as_folder_and_as_archive(tmp_path: Path) -> None:
    folder = export(tmp_path / "export")
    for path in (folder, zipped(folder)):
        dictionary = read(path)
        sex = entry(dictionary, "SEX")
        assert sex.table == "person"
        assert {code.code: code.label.show() for code in sex.codes} == {
            "1": "Hombre",
            "2": "Mujer",
            "-999999999": "",
            "##N/A##": "",
        }
        assert all(code.kind is CodeKind.NOT_STATED for code in sex.codes[2:])
        assert entry(dictionary, "RENT").label.show() == "Renta de la vivienda"
        assert entry(dictionary, "OWN__1").label.show() == "Bienes: Auto"
        assert "action" not in {variable.name for variable in dictionary.variables}
        assert dictionary.doubts == ()


def test_archives_without_dictionaries_or_with_a_password_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../photo.jpg", b"x")
    with pytest.raises(InputError, match="no dictionary was found"):
        read(path)
    path.write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(InputError, match="cannot be read"):
        read(path)
    (tmp_path / "document.json").write_text("[", encoding="utf-8", newline="\n")
    with pytest.raises(InputError, match="not valid JSON"):
        read(tmp_path / "document.json")
