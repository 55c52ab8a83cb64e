"""The language of the command window: small programs that become questions like any other.

A program asks for frequencies, cross-tabulations, counts, shares and indicators. It compiles to
questions, and so to the same policy and the same protection as everything that is asked by hand;
figures are computed from the published answers.
"""

from sdcensus.model.spec.predicate import DEEPEST as DEEPEST
from sdcensus.session.commands.compiler import compile_program as compile_program
from sdcensus.session.commands.parser import (
    MOST_TABLES as MOST_TABLES,
    parse_program as parse_program,
)
from sdcensus.session.commands.places import (
    line_and_column as line_and_column,
    place_of as place_of,
    pointer as pointer,
)
from sdcensus.session.commands.program import (
    CommandTable as CommandTable,
    Program as Program,
    Show as Show,
)
from sdcensus.session.commands.results import finish as finish
from sdcensus.session.commands.tokens import (
    LONGEST_PROGRAM as LONGEST_PROGRAM,
    RESERVED as RESERVED,
)
from sdcensus.session.commands.writer import program_text as program_text
