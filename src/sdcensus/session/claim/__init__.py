"""The answer to a claim: "I have found my neighbour in table 7".

Here: the cell that is meant (``cell``), the kinds of method and the bracket, which follow from
published values and parameters and from nothing else (``bracket``, ``nominal``), and what is true,
for the office alone (``truth``). ``answer`` joins them and writes both. The documents themselves
are in ``report/claim``; attacks on whole publications are in ``session/attack``.
"""

from sdcensus.session.claim.answer import ClaimFiles, answer_claim

__all__ = ["ClaimFiles", "answer_claim"]
