"""The grammar of the command language, as it is documented and tested."""

from __future__ import annotations

#: In the notation of ISO/IEC 14977. Words in capitals may be written in any case; ``word``,
#: ``number`` and ``quoted`` are described beside it in the guide.
GRAMMAR = """\
program    = [ rundef ], { define | table } ;

rundef     = "RUNDEF", name, [ "SELECTION", ( "ALL" | condition ) ], [ "UNIVERSE", condition ] ;

define     = "DEFINE", variable, "AS", "RECODE", operand, category, { category } ;
category   = "(", item, { ",", item }, "=", value, [ quoted ], ")" ;
item       = "ELSE" | "MISSING"
           | value, [ "-", ( value | "HIGHEST" ) ]
           | "LOWEST", "-", ( value | "HIGHEST" ) ;

table      = "TABLE", name, [ "TITLE", quoted ], "AS", analysis, { clause } ;
analysis   = "FREQUENCY", "OF", axis
           | "CROSSTABS", "OF", axis, groups
           | "COUNT", "OF", entity, [ groups ]
           | [ "INDICATOR" ], figure, [ groups ] ;
figure     = "SHARE", "OF", condition, [ "OF", ( entity | condition ) ]
           | "RATIO", "OF", condition, "TO", condition
           | ( "MEAN" | "AVERAGE" | "MEDIAN" ), "OF", operand
           | "DISTRIBUTION", "OF", axis
           | ( "MEDIAN-AGE" | "SEX-RATIO" | "DEPENDENCY-RATIO" ), [ "OF", operand ] ;
groups     = "BY", axis, { ( "BY" | "," ), axis } ;
clause     = "TITLE", quoted
           | "FOR", condition
           | "AREABREAK", axis
           | "PERCENT", ( "ROW" | "COLUMN" | "TOTAL" )
           | "PER", number
           | "DECIMALS", number ;

condition  = conjunct, { "OR", conjunct } ;
conjunct   = single, { "AND", single } ;
single     = "NOT", single
           | "(", condition, ")"
           | universe
           | operand, operator, value
           | value, operator, operand
           | operand, [ "NOT" ], "IN", "(", value, { ",", value }, ")" ;
operator   = "=" | "==" | "<>" | "!=" | "<" | "<=" | ">" | ">=" ;

axis       = variable, [ "@", word ], { "+", word }, [ "-", "TOTAL" ] ;
operand    = variable, [ "@", word ] ;
variable   = [ entity, "." ], word ;
universe   = word ;
entity     = "PERSON" | "FAMILY" | "HOUSEHOLD" | "DWELLING" | "BUILDING" ;
name       = word ;
value      = [ "-" ], number | quoted ;
"""
