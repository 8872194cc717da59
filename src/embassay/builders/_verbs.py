"""Which words are finite verbs, and the words that English verbs are told by."""

from __future__ import annotations

from embassay.builders._words import Word


def wordset(text: str) -> frozenset[str]:
    """Return the words of a text, between spaces, as a set."""
    return frozenset(text.split())


BE = frozenset({"am", "is", "are", "was", "were", "'m", "'re", "'s"})
HAVE = frozenset({"have", "has", "had", "'ve"})
DO = frozenset({"do", "does", "did"})
MODALS = frozenset(
    {
        "can",
        "could",
        "will",
        "would",
        "shall",
        "should",
        "may",
        "might",
        "must",
        "ought",
        "'ll",
        "'d",
        "ca",
        "wo",
        "sha",
    }
)
SUBJECTS = frozenset({"i", "he", "she", "we", "they", "you", "it"})
PLAIN_SUBJECTS = frozenset({"i", "we", "they", "you"})
"""Subjects whose verb has no s."""
NEGATORS = frozenset({"not", "n't", "never", "hardly", "barely", "scarcely"})
SUBORDINATORS = wordset(
    "because if when while although though since unless until till whereas whenever wherever once whether as after "
    "before who whom whose which what where why how whoever whatever whichever lest"
)
ADVERBIAL = wordset("because if when while although though since unless until till whenever once as after before")
"""Subordinators of a clause that ends at a comma where it comes first."""
PREPOSITIONS_TOO = frozenset({"since", "until", "till", "as", "after", "before", "once"})
"""Subordinators that may stand before a mere noun."""
NO_VERBS = wordset(
    "please thank thanks welcome man dude bro heck yo hello congrats sure cool guess lol lmao wow god damn hey yes "
    "no ok okay oh well"
)
"""Words that open a sentence and are tagged as verbs at times."""
PERCEIVING = wordset(
    "let lets letting make makes made making help helps helped helping see sees saw seeing hear hears heard hearing "
    "watch watches watched watching"
)
"""Verbs that take an object with a bare infinitive: ``let you go``."""
TIMES = wordset("yesterday today tomorrow tonight year week month time day night morning evening summer")
STOPS = frozenset({".", "!", "?", ";", ":", "…", "..."})


def lower(word: Word) -> str:
    """Return a word in lower case, its apostrophe a plain one."""
    return word.text.lower().replace("’", "'")


def is_adverb(word: Word) -> bool:
    """Say whether a word may stand inside a verb group without being a verb."""
    return word.tag.startswith("RB") or lower(word) in NEGATORS | {"longer"}


def is_finite(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a word is a finite verb."""
    word, low = words[index], lower(words[index])
    before = words[index - 1] if index else None
    if low in NO_VERBS or (before is not None and _bars_verb(words, index)):
        return False
    if low == "'s":
        return word.tag != "POS" and not (before is not None and lower(before) == "let")
    if low in MODALS:
        return (
            low not in ("may", "will", "might", "can")
            or word.tag in ("MD", "VB", "VBP")
            or is_after_subject(words, index)
        )
    if low in BE | HAVE | DO and low != "be":
        return True
    if word.tag == "VBP" and _caused(words, index):
        return False
    if word.tag in ("VBZ", "VBP", "VBD"):
        return True
    if word.tag == "VB":
        return before is None or starts_clause(words, index) or _after_plain_subject(words, index)
    return word.tag == "VBN" and is_after_subject(words, index) and not _asked(words, index)


def _caused(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a bare verb belongs to ``make``, ``let`` or ``see`` before it: ``makes the room look good``."""
    before = words[max(0, index - 5) : index]
    plain = bool(before) and lower(before[-1]) in PLAIN_SUBJECTS - {"you"}
    return not plain and any(lower(word) in PERCEIVING for word in before)


def is_after_subject(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a subject pronoun stands right before a word, adverbs aside."""
    at = _skip_back(words, index - 1)
    return at >= 0 and lower(words[at]) in SUBJECTS


def _skip_back(words: tuple[Word, ...], at: int) -> int:
    while at >= 0 and is_adverb(words[at]):
        at -= 1
    return at


def _bars_verb(words: tuple[Word, ...], index: int) -> bool:
    """Say whether what stands before a word keeps it from being a finite verb: ``to``, an article, a possessive."""
    at = _skip_back(words, index - 1)
    if at < 0:
        return False
    before, low = words[at], lower(words[at])
    if before.tag == "TO" or low == "to" or before.tag in ("PRP$", "POS"):
        return True
    if before.tag == "JJ" and at == index - 1 and lower(words[index]) not in BE | HAVE | DO | MODALS:
        return True
    return low in ("a", "an", "the", "every", "my", "your", "our", "their", "its", "no")


def _after_plain_subject(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a bare form has a subject that takes it: ``I love``, ``dogs bark``, not ``let you go``."""
    at = _skip_back(words, index - 1)
    if at < 0 or _asked(words, index):
        return False
    if lower(words[at]) in PLAIN_SUBJECTS:
        return not (at and lower(words[at - 1]) in PERCEIVING)
    return words[at].tag == "NNS" and not any(lower(w) in PERCEIVING | MODALS | DO for w in words[:at])


def _asked(words: tuple[Word, ...], index: int) -> bool:
    """Say whether an auxiliary stands before the subject: ``what have you done``."""
    at = _skip_back(words, index - 1)
    return at > 0 and lower(words[at - 1]) in BE | HAVE | DO | MODALS


def starts_clause(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a word opens its clause, as an imperative does; ``please`` and adverbs may go before."""
    at = index - 1
    while at >= 0 and (is_adverb(words[at]) or lower(words[at]) in ("please", "just", "and", "but", "so")):
        at -= 1
    return at < 0 or words[at].text in STOPS or words[at].text == ","
