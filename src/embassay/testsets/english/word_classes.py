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
PLAIN_SUBJECTS = wordset("i we they you")
"""Subjects whose verb takes no ``-s``."""
NEGATORS = wordset("not n't never hardly barely scarcely")
SUBORDINATORS = wordset(
    "because if when while although though since unless until till whereas whenever wherever once whether as after "
    "before who whom whose which what where why how whoever whatever whichever lest"
)
ADVERBIAL = wordset("because if when while although though since unless until till whenever once as after before")
"""Subordinators whose clause, at the start of a sentence, ends at a comma."""
PREPOSITIONS_TOO = wordset("since until till as after before once")
"""Subordinators that are also prepositions: ``after dinner``."""
NO_VERBS = wordset(
    "please thank thanks welcome man dude bro heck yo hello congrats sure cool guess lol lmao wow god damn hey yes "
    "no ok okay oh well"
)
"""Words at the start of a sentence that the tagger sometimes takes for verbs."""
PERCEIVING = wordset(
    "let lets letting make makes made making help helps helped helping see sees saw seeing hear hears heard hearing "
    "watch watches watched watching"
)
"""Verbs that take an object and a bare infinitive: ``let you go``."""
SAYING = wordset(
    "think say know believe hope feel guess suppose realize claim wish mean swear bet hear see tell show prove find "
    "admit notice decide figure learn understand agree imagine assume"
)
"""Verbs that take a clause without ``that``: ``said the bridge was closed``."""
TIMES = wordset("yesterday today tomorrow tonight year week month time day night morning evening summer")
MOMENTS = wordset("time moment minute second instant")
"""Nouns that start a clause of time: ``every time the bell rings``."""
STOPS = frozenset({".", "!", "?", ";", ":", "…", "..."})
ABBREVIATIONS = wordset("mr mrs ms dr prof st jr sr no vs cf ca fig inc ltd co corp e.g i.e etc approx vol ed")
"""Abbreviations that end with a full stop inside sentences; a sentence may have been split after one."""
