"""Penn treebank tags of an English sentence: Brill's tagger, mended by rules for everyday sentences.

Which tags a word *can* have comes from lemminflect's dictionary (Jascob 2020). The rules are frames that leave one
reading: a modal before makes a base form, a pronoun before a finite one, a possessive no verb.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path

from embassay.errors import MissingExtraError

# --- Brill's tagger (1994) with the lexicon and the contextual rules that the textblob package carries ---

_EDGE = ["STAART"] * 3
_Test = Callable[[str, str, Sequence[str], Sequence[str], int], bool]
_TESTS: dict[str, _Test] = {
    "prevtag": lambda x, _, w, t, i: x == t[i - 1],
    "nexttag": lambda x, _, w, t, i: x == t[i + 1],
    "prev2tag": lambda x, _, w, t, i: x == t[i - 2],
    "next2tag": lambda x, _, w, t, i: x == t[i + 2],
    "prev1or2tag": lambda x, _, w, t, i: x == t[i - 1] or x == t[i - 2],
    "next1or2tag": lambda x, _, w, t, i: x == t[i + 1] or x == t[i + 2],
    "prev1or2or3tag": lambda x, _, w, t, i: x in t[i - 3 : i],
    "next1or2or3tag": lambda x, _, w, t, i: x in t[i + 1 : i + 4],
    "surroundtag": lambda x, y, w, t, i: x == t[i - 1] and y == t[i + 1],
    "curwd": lambda x, _, w, t, i: x == w[i],
    "prevwd": lambda x, _, w, t, i: x == w[i - 1],
    "nextwd": lambda x, _, w, t, i: x == w[i + 1],
    "prev1or2wd": lambda x, _, w, t, i: x == w[i - 1] or x == w[i - 2],
    "next1or2wd": lambda x, _, w, t, i: x == w[i + 1] or x == w[i + 2],
    "next1or2or3wd": lambda x, _, w, t, i: x in w[i + 1 : i + 4],
    "prev1or2or3wd": lambda x, _, w, t, i: x in w[i - 3 : i],
    "prevwdtag": lambda x, y, w, t, i: x == w[i - 1] and y == t[i - 1],
    "nextwdtag": lambda x, y, w, t, i: x == w[i + 1] and y == t[i + 1],
    "wdprevtag": lambda x, y, w, t, i: x == t[i - 1] and y == w[i],
    "wdnexttag": lambda x, y, w, t, i: x == w[i] and y == t[i + 1],
    "wdand2aft": lambda x, y, w, t, i: x == w[i] and y == w[i + 2],
    "wdand2tagbfr": lambda x, y, w, t, i: x == t[i - 2] and y == w[i],
    "wdand2tagaft": lambda x, y, w, t, i: x == w[i] and y == t[i + 2],
    "lbigram": lambda x, y, w, t, i: x == w[i - 1] and y == w[i],
    "rbigram": lambda x, y, w, t, i: x == w[i] and y == w[i + 1],
    "prevbigram": lambda x, y, w, t, i: x == t[i - 2] and y == t[i - 1],
    "nextbigram": lambda x, y, w, t, i: x == t[i + 1] and y == t[i + 2],
}


@cache
def lexicon() -> dict[str, str]:
    """Return the most frequent tag of each word, as it is spelt.

    Raises
    ------
    MissingExtraError
        If textblob is not installed.
    """
    pairs = (line.split(" ") for line in _lines("en-lexicon.txt"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) > 1}


def by_context(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Return the tags after the contextual rules, applied in their order at each place, from left to right."""
    rules = _rules()
    w, t = [*_EDGE, *words, *_EDGE], [*_EDGE, *tags, *_EDGE]
    for place in range(3, len(words) + 3):
        rank = 0
        while rule := next((r for r in rules.get(t[place], ()) if r[0] > rank and r[2](r[3], r[4], w, t, place)), None):
            rank, t[place] = rule[0], rule[1]
    return t[3:-3]


@cache
def _rules() -> dict[str, tuple[tuple[int, str, _Test, str, str], ...]]:
    """Return the rules by the tag that they change: (rank from 1, new tag, condition, its x, its y)."""
    found: dict[str, list[tuple[int, str, _Test, str, str]]] = {}
    for rank, line in enumerate(_lines("en-context.txt"), start=1):
        old, new, condition, x, *rest = line.split()
        if test := _TESTS.get(condition.lower()):
            found.setdefault(old, []).append((rank, new, test, x, rest[0] if rest else ""))
    return {tag: tuple(rules) for tag, rules in found.items()}


def _lines(name: str) -> list[str]:
    spec = importlib.util.find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("building a test set", "build")
    text = (Path(spec.submodule_search_locations[0]) / "en" / name).read_text(encoding="utf-8-sig")
    return [line for line in text.split("\n") if line.strip() and not line.startswith(";;;")]


# --- Penn treebank tags of an English sentence: Brill's tagger, mended by rules for everyday sentences ---

SUBJECTS = frozenset({"i", "you", "he", "she", "it", "we", "they"})
BE = frozenset({"am", "is", "are", "was", "were", "be", "been", "being", "'m", "'re"})
HAVE = frozenset({"have", "has", "had", "having", "'ve"})
DO = frozenset({"do", "does", "did"})
MODALS = frozenset({*"can could may might must shall should will would ca wo sha".split(), "'ll"})
CAUSATIVES = frozenset(
    "let lets make makes made making help helps helped helping see saw seen watch watched hear heard have had".split()
)
"""Verbs that an object and a base form may follow: "makes you feel"."""
CONJUNCTIONS = frozenset(
    "if because although since that as while before after until though whether than when unless once like so".split()
)
"""Words that a clause may follow, though the lexicon calls them prepositions."""
ADVERBS = ("RB", "RBR", "RBS")
_OBJECTS = frozenset({"'s", "me", "him", "us", "them"})
_DEGREE = frozenset({"so", "too", "very", "as", "more", "most", "how", "much", "less"})
_FIXED = {
    **dict.fromkeys("i you he she it we they me him us them myself yourself himself herself itself".split(), "PRP"),
    **dict.fromkeys("ourselves yourselves themselves".split(), "PRP"),
    **dict.fromkeys("something anything everything nothing someone anyone everyone".split(), "NN"),
    **dict.fromkeys("somebody anybody everybody nobody none".split(), "NN"),
    **dict.fromkeys("my your his its our their".split(), "PRP$"),
    **dict.fromkeys("the a an this these those every each no any some".split(), "DT"),
    **dict.fromkeys("and or but nor".split(), "CC"),
    **dict.fromkeys("if because of from with at by into than for although".split(), "IN"),
    **dict.fromkeys("not n't never always very really just too also maybe still even".split(), "RB"),
    **dict.fromkeys("is does has".split(), "VBZ"),
    **dict.fromkeys("am are 'm 're 've".split(), "VBP"),
    **dict.fromkeys("was were did".split(), "VBD"),
    **dict.fromkeys(MODALS, "MD"),
    **dict.fromkeys("being having".split(), "VBG"),
    **dict.fromkeys("when where why how".split(), "WRB"),
    **dict.fromkeys("yes yeah oh hey wow lol please thanks ok okay yep nope".split(), "UH"),
    "to": "TO",
    "be": "VB",
    "been": "VBN",
    "who": "WP",
    "what": "WP",
    "which": "WDT",
    "whose": "WP$",
}
_NOUNS = ("NN", "NNS", "NNP", "NNPS", "CD")
_VERBS = ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")


def tags(words: Sequence[str]) -> tuple[str, ...]:
    """Return the Penn tag of each word of a text; a mark of punctuation gets ``.``, ``,`` or ``:``, as there."""
    first = [place == 0 or words[place - 1] in {".", "!", "?", "..."} for place in range(len(words))]
    alone = [_alone(word, start) for word, start in zip(words, first, strict=True)]
    found = by_context(words, alone)
    lower = [word.lower() for word in words]
    for place, word in enumerate(lower):
        if word in _FIXED or alone[place] in {"NNP", "CD", ".", ",", ":"}:
            found[place] = alone[place]
    for place, word in enumerate(lower):
        found[place] = _within(word, found[place])
    for place in range(len(words)):
        found[place] = _mended(lower, found, place)
    return tuple(found)


@lru_cache(maxsize=200_000)
def possible(word: str) -> frozenset[str]:
    """Return the Penn tags of nouns, verbs, adjectives and adverbs that a lower-case word can have; perhaps none."""
    try:
        import lemminflect
    except ImportError:
        raise MissingExtraError("building a test set", "build") from None
    found = set[str]()
    for part, lemmas in lemminflect.getAllLemmas(word).items():
        for forms in (lemminflect.getAllInflections(lemma, part) for lemma in lemmas):
            found |= {tag for tag, names in forms.items() if word in names}
            if "VBN" not in forms and word in forms.get("VBD", ()):
                found.add("VBN")  # the dictionary leaves it out where it is an adjective as well: "accepted"
    return frozenset(found)


def _within(word: str, tag: str) -> str:
    """Return the tag, or where the word cannot have it, its most frequent one, if it can have that."""
    if tag[:2] not in {"VB", "NN", "JJ"} or tag in {"VBP", "NNP", "NNPS"} or word in _FIXED:
        return tag
    known, can = lexicon().get(word, ""), possible(word)
    return known if known in can and tag not in can else tag


def _alone(word: str, first: bool) -> str:
    """Return the tag of a word by itself; ``first`` says that a capital means nothing."""
    low, known = word.lower(), lexicon()
    if word in {"US", "IT"}:
        return "NNP"
    if low in _FIXED:
        return _FIXED[low]
    if not any(character.isalnum() for character in word):
        return "." if word[0] in ".!?…" else "," if word == "," else ":"
    if word[0] == "[" or (word[0].isupper() and not first and low not in known):
        return "NNP"
    if word[0].isdigit() or word[0] in "$£€":
        return "CD"
    if not first and word[0].isupper() and known.get(word, "").startswith("NNP"):
        return "NNP"
    tag = known.get(low) or known.get(word)
    if tag is None or (tag.startswith("NNP") and word.islower()):
        return "NNP" if word[0].isupper() and not possible(low) else _unknown(low)
    return tag


def _unknown(word: str) -> str:
    """Return the tag of a lower-case word that the lexicon lacks, by what it can be, else by its ending."""
    can = possible(word)
    for tag in ("NN", "NNS", "JJ", "VBD", "VBG", "VBZ", "VB", "RB", "JJR", "JJS", "VBN"):
        if tag in can:
            return tag
    endings = {"ing": "VBG", "ly": "RB", "ed": "VBN", "ous": "JJ", "ful": "JJ", "able": "JJ", "ible": "JJ"}
    for ending, tag in endings.items():
        if word.endswith(ending):
            return tag
    return "JJ" if "-" in word else "NNS" if re.search(r"[^siu]s$", word) else "NN"


def _mended(words: Sequence[str], found: Sequence[str], place: int) -> str:
    """Return the tag of a word in its place, mended by the first rule that fits."""
    word, tag = words[place], found[place]
    if word == "'s":
        return _apostrophe(words, found, place)
    if word == "'d":
        return "VBD" if words[place + 1 : place + 2] == ["better"] or _next(found, place) == "VBN" else "MD"
    if word == "that":
        return _that(found, place)
    if word in _FIXED or tag in {"NNP", "CD", ".", ",", ":"} or place == 0:
        return _imperative(words, found) if place == 0 else tag
    if words[place - 1] == "please":
        return _imperative(words[place:], found[place:])
    can = possible(word) | ({"VB", "VBP"} if word == "like" else frozenset())
    before = _before(words, found, place)
    for rule in (_after_auxiliary, _after_subject, _after_determiner, _after_preposition):
        if changed := rule(words, found, place, before, can):
            return changed
    if word == "like" and tag[:2] == "VB" and found[place - 1] not in {"NNS", "NN", "MD", "TO", "RB", "CC"}:
        return "IN"
    return "RB" if word == "pretty" and _next(found, place) in {"JJ", "RB"} else tag


def _before(words: Sequence[str], found: Sequence[str], place: int) -> int:
    """Return the place of the word before, adverbs and negations passed over; -1 for none."""
    place -= 1
    while place >= 0 and found[place] in ADVERBS and words[place] not in _DEGREE:
        place -= 1
    return place


def _next(found: Sequence[str], place: int) -> str:
    """Return the tag of the next word that is no adverb; empty at the end."""
    return next((tag for tag in found[place + 1 :] if tag not in ADVERBS), "")


def _apostrophe(words: Sequence[str], found: Sequence[str], place: int) -> str:
    """Return the tag of 's: is or has, us, or a possessive."""
    before = words[place - 1] if place else ""
    if before in {"let", "lets"}:
        return "PRP"
    if before in SUBJECTS | set("that there here what who where how when why everything everyone".split()):
        return "VBZ"
    after = found[place + 1] if place + 1 < len(found) else ""
    return "VBZ" if after in {"DT", "RB", "PRP$", "VBG", "IN", "TO", "PRP", "MD"} else "POS"


def _that(found: Sequence[str], place: int) -> str:
    """Return the tag of "that": a determiner before a noun or a verb, else what it is."""
    after = found[place + 1] if place + 1 < len(found) else ""
    if after in {"NN", "VBZ", "MD", ".", ","}:
        before = found[place - 1] if place else ""
        return "WDT" if before in _NOUNS and after in {"VBZ", "MD"} else "DT"
    return found[place]


def _imperative(words: Sequence[str], found: Sequence[str]) -> str:
    """Return the tag of the first word: a base form where it can be one and what follows seldom follows a noun."""
    if found[0] in {"VBP", "VB"} or (found[0] in {"NN", "JJ"} and "VB" in possible(words[0])):
        after = found[1] if len(found) > 1 else ""
        known = lexicon().get(words[0], "")
        if words[0] not in _FIXED and (after in {"DT", "PRP", "PRP$", "RP"} or known in {"VB", "VBP"}):
            return "VB"
    return found[0]


def _after_auxiliary(
    words: Sequence[str], found: Sequence[str], place: int, before: int, can: frozenset[str]
) -> str | None:
    """Mend the form after a modal, do, to, have and be."""
    if before < 0:
        return None
    word, other, tag = words[place], words[before], found[place]
    negated = any(w in {"not", "n't", "never"} for w in words[before + 1 : place])
    if "VB" in can and (
        found[before] in {"MD", "TO"} or other in MODALS or (other in DO and (negated or tag in _VERBS))
    ):
        return "VB"
    if other in HAVE and "VBN" in can and (tag in _VERBS or negated) and _next(found, place) not in {"NN", "NNS"}:
        return "VBN"
    if other in BE or (other == "'s" and found[before] == "VBZ"):
        known = lexicon().get(word, "")
        if word.endswith("ing") and "VBG" in can:
            return "JJ" if known == "JJ" else "VBG"
        if tag in {"VBD", "VBN"} and "VBN" in can:
            return "VBN"
        if tag in {"VB", "VBP"} and "JJ" in can:
            return "JJ"
    return None


def _after_subject(
    words: Sequence[str], found: Sequence[str], place: int, before: int, can: frozenset[str]
) -> str | None:
    """Mend the form after a pronoun that is a subject."""
    if before < 0:
        return None
    if before and words[before] in _OBJECTS and words[before - 1] in CAUSATIVES and "VB" in can:
        return "VB"
    if words[before] not in SUBJECTS:
        return None
    tag, earlier = found[place], words[before - 1] if before else ""
    if words[before] in {"it", "you"} and before and found[before - 1] in {*_VERBS, "IN", "TO"}:
        if earlier in CAUSATIVES:
            return "VB" if "VB" in can and tag in {"VB", "VBP", "NN"} else None
        if earlier not in CONJUNCTIONS and tag not in {"VBP", "VBZ", "VBD"}:
            return None  # an object: "love it so much"
    singular = words[before] in {"he", "she", "it"}
    if not singular and "VBP" in can and tag in {"VB", "NN", "IN", "JJ", "VBP", "RB"} and not _is_adverb(words[place]):
        return "VBP"
    if singular and "VBZ" in can and tag in {"NNS", "VBZ"}:
        return "VBZ"
    return "VBD" if "VBD" in can and tag in {"VBN", "NN", "VBD", "VB"} else None


def _is_adverb(word: str) -> bool:
    """Say whether a word that can be a verb is first of all an adverb: "well", "even", "still", "back"."""
    return lexicon().get(word) in {"RB", "UH"}


def _after_determiner(
    words: Sequence[str], found: Sequence[str], place: int, before: int, can: frozenset[str]
) -> str | None:
    """Mend the form after an article or a possessive: never a finite verb."""
    tag, sure = found[place], {"the", "a", "an", "every"}
    last = place - 1
    if found[last] != "PRP$" and words[last] not in sure:
        if words[last] in {"this", "that"} and tag == "NNS" and "VBZ" in can:
            return "VBZ"
        return None
    after = found[place + 1] if place + 1 < len(found) else ""
    if tag in {"VB", "VBP", "VBZ", "VBD"}:
        if "JJ" in can and after in _NOUNS:
            return "JJ"
        return "NNS" if tag == "VBZ" and "NNS" in can else "NN" if "NN" in can else "VBN" if "VBN" in can else None
    return None


def _after_preposition(
    words: Sequence[str], found: Sequence[str], place: int, before: int, can: frozenset[str]
) -> str | None:
    """Mend the form after a preposition: a noun rather than a base form."""
    if found[place - 1] == "IN" and words[place - 1] not in CONJUNCTIONS and found[place] in {"VB", "VBP"}:
        return "NN" if "NN" in can else None
    return None
