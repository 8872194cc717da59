"""Closed classes of English words, in lower case. Contractions are split as in the Penn treebank: ``ca`` + ``n't``."""

from __future__ import annotations


def wordset(text: str) -> frozenset[str]:
    """Return the set of words of a text, which are separated by spaces."""
    return frozenset(text.split())


BE = wordset("am is are was were 'm 're 's")
HAVE = wordset("have has had 've")
DO = wordset("do does did")
MODALS = wordset("can could will would shall should may might must ought 'll 'd ca wo sha")
AUXILIARIES = BE | HAVE | DO | MODALS
SUBJECTS = wordset("i he she we they you it")
NEGATORS = wordset("not n't nt never hardly barely scarcely")
ADVERBS_OF_DEGREE = wordset(
    "very so too really quite rather pretty extremely totally absolutely completely fairly more most"
)
SAYING = wordset("say add tell report claim argue note write announce warn explain")
PERSONS = wordset(
    "man woman person people guy girl boy kid child friend mom dad mother father brother sister son daughter wife "
    "husband parent doctor teacher student player coach boss lady everyone everybody someone somebody anyone nobody "
    "family team neighbor men women children guys girls boys kids friends parents fans fan driver customer"
)
STOPS = frozenset({".", "!", "?", ";", ":", "…", "..."})
ABBREVIATIONS = wordset("mr mrs ms dr prof st jr sr no vs cf ca fig inc ltd co corp e.g i.e etc approx vol ed")
"""Abbreviations that end with a full stop inside sentences; a sentence may have been split after one."""
