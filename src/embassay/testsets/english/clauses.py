"""Which words are finite verbs, and the words that English verbs are told by."""

from __future__ import annotations

from dataclasses import dataclass

from embassay.testsets.english.words import Tagged, Word


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


# --- Finite verb groups of a tagged sentence, and which of them is the main one; rules, no parser ---

SAYING = wordset(
    "think say know believe hope feel guess suppose realize claim wish mean swear bet hear see tell show prove find "
    "admit notice decide figure learn understand agree imagine assume"
)
"""Verbs that a clause without ``that`` may follow: ``said the bridge was closed``."""


@dataclass(frozen=True)
class Group:
    """A finite verb group.

    Attributes
    ----------
    first, last
        Indices of its finite word and of its last verb, which may be the same.
    negator
        Index of ``not``, ``n't``, ``never`` … in or right after it; None where it is not negated.
    """

    first: int
    last: int
    negator: int | None


def groups(tagged: Tagged) -> tuple[Group, ...]:
    """Return the finite verb groups of a sentence, from left to right."""
    found: list[Group] = []
    index = 0
    while index < len(tagged.words):
        if is_finite(tagged.words, index):
            group = _group(tagged.words, index)
            found.append(group)
            index = group.last
        index += 1
    return tuple(found)


def group_at(tagged: Tagged, index: int) -> Group | None:
    """Return the verb group that the word at ``index`` belongs to, if any."""
    return next((group for group in groups(tagged) if group.first <= index <= group.last), None)


def main_group(tagged: Tagged) -> Group | None:
    """Return the verb group of the main clause; None for a question, a fragment, or where the rules do not decide.

    Of several sentences, the first that has one counts.
    """
    words = tagged.words
    if not words or words[-1].text == "?" or tagged.text.rstrip(" \"'”’)").endswith("?"):
        return None
    at = {group.first: group for group in groups(tagged)}
    owed, maybe, waiting = 0, 0, False
    for index, word in enumerate(words):
        if word.text in STOPS:
            owed, maybe, waiting = 0, 0, False
        elif word.text == ",":
            owed, maybe, waiting = (0 if waiting else owed - maybe), 0, waiting and owed > maybe > 0
        elif index in at and owed == 0 and not waiting:
            return at[index] if _decided(words, at[index], tuple(at.values())) else None
        elif index in at:
            owed, maybe = max(owed - 1, 0), 0
        elif _opens_clause(words, index):
            owed, maybe = owed + 1, maybe + (lower(word) in PREPOSITIONS_TOO)
            waiting = waiting or (
                (lower(word) in ADVERBIAL or _names_time(words, index)) and starts_clause(words, index)
            )
    return None


def _decided(words: tuple[Word, ...], group: Group, every: tuple[Group, ...]) -> bool:
    """Say whether a group is surely the main one: no question, no reduced relative clause, no second verb beside it."""
    first = lower(words[group.first])
    if group.first == 0 and (first in MODALS | BE | HAVE or _asks(words, first)):
        return False
    later = next((other for other in every if other.first > group.first), None)
    if later is None:
        return True
    between = words[group.last + 1 : later.first]
    if not between or (len(between) == 1 and is_adverb(between[0])):
        return False
    commands = words[group.first].tag == "VB" and starts_clause(words, group.first)
    shared = words[group.first].tag in ("VBD", "VBN") and first.endswith(("ed", "en")) and group.first > 0
    parts = any(w.tag in ("CC", ",", "PRP", "WDT", "WP", "WRB", ":", ".") or lower(w) == "that" for w in between)
    if commands:
        return parts  # no command: "mention of it was made", "close talks between them can help"
    return parts or not shared or lower(words[group.first - 1]) in SUBJECTS or words[group.first].lemma in SAYING


def _asks(words: tuple[Word, ...], first: str) -> bool:
    """Say whether ``do`` at the start asks (``do it work``) rather than commands (``do it now``)."""
    return first in DO and len(words) > 2 and lower(words[1]) in SUBJECTS and words[2].tag.startswith("VB")


def _opens_clause(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a subordinate clause with its own finite verb begins at a word."""
    low, before = lower(words[index]), words[index - 1] if index else None
    if _names_time(words, index):
        return True
    if low in SUBORDINATORS:
        return not (index + 1 < len(words) and lower(words[index + 1]) in ("of", "for", "well", "usual", "such"))
    if low == "that":
        return before is not None and before.tag.startswith(("NN", "VB"))
    if index > 1 and _names_time(words, index - 2):
        return False
    if low in SUBJECTS and before is not None and before.tag in ("NN", "NNS", "NNP") and index > 1:
        return lower(before) not in TIMES or lower(words[index - 2]) in ("every", "the", "first")
    return False


def _names_time(words: tuple[Word, ...], index: int) -> bool:
    """Say whether a time opens a clause at a word, before its subject: ``every time the bell rings``."""
    if index + 2 >= len(words) or lower(words[index + 1]) not in ("time", "moment", "minute", "second", "instant"):
        return False
    after = words[index + 2]
    return lower(words[index]) in ("every", "each", "any", "next", "first", "last", "the") and (
        after.tag in ("PRP", "NNP", "PRP$", "NNS") or lower(after) in ("a", "the", "this", "someone", "somebody")
    )


def _group(words: tuple[Word, ...], first: int) -> Group:
    last, negator = first, None
    for at in range(first + 1, len(words)):
        if lower(words[at]) in NEGATORS or is_no_longer(words, at):
            if lower(words[last]) not in BE | HAVE | DO | MODALS | {"be", "been", "being"}:
                break
            negator = at if negator is None else negator
        elif _continues(words, last, at):
            last = at
        elif not is_adverb(words[at]):
            break
    before = first - 1
    while before >= 0 and (is_adverb(words[before]) or is_no_longer(words, before)):
        negates = lower(words[before]) in NEGATORS or is_no_longer(words, before)
        negator = before if negator is None and negates else negator
        before -= 1
    return Group(first, last, negator)


def is_no_longer(words: tuple[Word, ...], at: int) -> bool:
    """Say whether ``no longer`` begins at a word."""
    return lower(words[at]) == "no" and at + 1 < len(words) and lower(words[at + 1]) == "longer"


def _continues(words: tuple[Word, ...], last: int, at: int) -> bool:
    """Say whether the verb at ``at`` belongs to the group of the verb at ``last``: ``has`` + ``been`` + ``seen``."""
    head, tag, low = lower(words[last]), words[at].tag, lower(words[at])
    if head in ("'d", "'s"):
        return tag.startswith("VB") or (head == "'d" and low in ("be", "have"))
    if head in MODALS | DO:
        return tag in ("VB", "VBP", "VBD") or low in ("be", "have", "do")
    if head in HAVE or head == "having":
        return tag in ("VBN", "VBD")
    if head in BE or head in ("be", "been", "being"):
        return tag in ("VBG", "VBN", "VBD")
    return False
