"""The language of the command window: small programs that become questions like any other.

A program asks for frequencies, cross-tabulations, counts, shares and indicators. It compiles to
questions, and so to the same policy and the same protection as everything that is asked by hand;
figures are computed from the published answers.
"""

from sdcensus.model.spec.predicate import DEEPEST
from sdcensus.session.commands.compiler import compile_program
from sdcensus.session.commands.grammar import GRAMMAR
from sdcensus.session.commands.parser import MOST_TABLES, parse_program
from sdcensus.session.commands.places import line_and_column, place_of, pointer
from sdcensus.session.commands.program import CommandTable, Program, Show
from sdcensus.session.commands.results import finish
from sdcensus.session.commands.tokens import LONGEST_PROGRAM, RESERVED
from sdcensus.session.commands.writer import program_text

__all__ = [
    "DEEPEST",
    "GRAMMAR",
    "LONGEST_PROGRAM",
    "MOST_TABLES",
    "RESERVED",
    "CommandTable",
    "Program",
    "Show",
    "compile_program",
    "finish",
    "line_and_column",
    "parse_program",
    "place_of",
    "pointer",
    "program_text",
]
