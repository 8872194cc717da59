"""Penn treebank tags of an English sentence: Brill's tagger, with repairs for everyday sentences.

Which tags a word *can* have comes from lemminflect's dictionary (Jascob 2020). The repairs are contexts that leave one
reading: a modal before makes a base form, a pronoun before a finite one, a possessive no verb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from embassay.errors import MissingExtraError
from embassay.testsets.english.brill import by_context, lexicon
from embassay.testsets.english.word_classes import BE, DO, HAVE, SUBJECTS, wordset

CAUSATIVES = wordset(
    "let lets make makes made making help helps helped helping see saw seen watch watched hear heard have had"
)
"""Verbs that an object and a base form may follow: "makes you feel"."""
_CONJUNCTIONS = wordset(
    "if because although since that as while before after until though whether than when unless once like so"
)
"""Words that a clause may follow, though the lexicon calls some of them prepositions."""
_ADVERBS = frozenset({"RB", "RBR", "RBS"})
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS", "CD"})
_VERBS = frozenset({"VB", "VBP", "VBZ", "VBD", "VBN", "VBG"})
_CERTAIN = frozenset({"NNP", "CD", ".", ",", ":"})
"""Tags that a word has by its form."""
_OBJECTS = wordset("'s me him us them it you")
_BEFORE_IS = SUBJECTS | wordset("that there here what who where how when why everything everyone")
"""Words after which 's is a verb."""
_WORDS_OF_TAG = {
    "PRP": "i you he she it we they me him us them myself yourself himself herself itself ourselves yourselves "
    "themselves",
    "NN": "something anything everything nothing someone anyone everyone somebody anybody everybody nobody none",
    "PRP$": "my your his its our their",
    "DT": "the a an this these those every each no any some",
    "CC": "and or but nor",
    "IN": "if because of from with at by into than for although",
    "RB": "not n't never always very really just too also maybe still even",
    "VBZ": "is does has",
    "VBP": "am are 'm 're 've",
    "VBD": "was were did",
    "MD": "can could may might must shall should will would ca wo sha 'll 'd",
    "VBG": "being having",
    "WRB": "when where why how",
    "UH": "yes yeah oh hey wow lol please thanks ok okay yep nope",
    "TO": "to",
    "VB": "be",
    "VBN": "been",
    "WP": "who what",
    "WDT": "which",
    "WP$": "whose",
}
_FIXED = {word: tag for tag, words in _WORDS_OF_TAG.items() for word in words.split()}
"""Words that have one tag everywhere."""
_ENDINGS = {"ing": "VBG", "ly": "RB", "ed": "VBN", "ous": "JJ", "ful": "JJ", "able": "JJ", "ible": "JJ"}


def tags(words: Sequence[str]) -> tuple[str, ...]:
    """Return the Penn tag of each word of a text; a mark of punctuation gets ``.``, ``,`` or ``:``, as there."""
    alone = []
    for place, word in enumerate(words):
        is_first = place == 0 or words[place - 1] in {".", "!", "?", "..."}
        alone.append(_alone(word, is_first))
    lower = [word.lower() for word in words]
    current = by_context(words, alone)
    for place, word in enumerate(lower):
        if word in _FIXED or alone[place] in _CERTAIN:
            current[place] = alone[place]
        else:
            current[place] = _within_dictionary(word, current[place])
    # From left to right: a repair sees the repaired tags before it.
    for place in range(len(words)):
        current[place] = _repaired(lower, current, place)
    return tuple(current)


@lru_cache(maxsize=200_000)
def possible(word: str) -> frozenset[str]:
    """Return the Penn tags of nouns, verbs, adjectives and adverbs that a lower-case word can have; perhaps none."""
    try:
        import lemminflect
    except ImportError:
        raise MissingExtraError("building a test set", "build") from None
    possible_tags = set[str]()
    for part, lemmas in lemminflect.getAllLemmas(word).items():
        for lemma in lemmas:
            forms = lemminflect.getAllInflections(lemma, part)
            possible_tags.update(tag for tag, names in forms.items() if word in names)
            # The dictionary leaves a participle out where it is an adjective as well: "accepted".
            if "VBN" not in forms and word in forms.get("VBD", ()):
                possible_tags.add("VBN")
    return frozenset(possible_tags)


# --- The tag of a word by itself ---


def _alone(word: str, is_first: bool) -> str:
    """Return the tag of a word by itself; ``is_first`` says that a capital means nothing."""
    low = word.lower()
    if word in {"US", "IT"}:
        return "NNP"
    if low in _FIXED:
        return _FIXED[low]
    if not any(character.isalnum() for character in word):
        if word == ",":
            return ","
        return "." if word[0] in ".!?…" else ":"
    if word[0].isdigit() or word[0] in "$£€":
        return "CD"
    has_capital = word[0].isupper()
    if word[0] == "[" or (has_capital and not is_first and low not in lexicon()):
        return "NNP"
    if has_capital and not is_first and lexicon().get(word, "").startswith("NNP"):
        return "NNP"
    tag = lexicon().get(low) or lexicon().get(word)
    if tag is not None and not (tag.startswith("NNP") and word.islower()):
        return tag
    return "NNP" if has_capital and not possible(low) else _of_unknown(low)


def _of_unknown(word: str) -> str:
    """Return the tag of a lower-case word that the lexicon lacks, by what it can be, else by its ending."""
    for tag in ("NN", "NNS", "JJ", "VBD", "VBG", "VBZ", "VB", "RB", "JJR", "JJS", "VBN"):
        if tag in possible(word):
            return tag
    for ending, tag in _ENDINGS.items():
        if word.endswith(ending):
            return tag
    if "-" in word:
        return "JJ"
    return "NNS" if re.search(r"[^siu]s$", word) else "NN"


def _within_dictionary(word: str, tag: str) -> str:
    """Return the tag, or where the word cannot have it, its most frequent one, if it can have that."""
    if tag[:2] not in {"VB", "NN", "JJ"} or tag in {"VBP", "NNP", "NNPS"} or tag in possible(word):
        return tag
    usual = lexicon().get(word, "")
    return usual if usual in possible(word) else tag


# --- Repairs in the context of the sentence ---


def _repaired(words: Sequence[str], tags: Sequence[str], place: int) -> str:
    """Return the tag of a word in its place, repaired by the first rule that fits."""
    word, tag = words[place], tags[place]
    if word == "'s":
        return _of_apostrophe_s(words, tags, place)
    if word == "that":
        return _of_that(tags, place)
    if place == 0 or words[place - 1] == "please":
        return _of_first(words[place:], tags[place:])
    if word in _FIXED or tag in _CERTAIN:
        return tag
    can = possible(word)
    if word == "like":
        can |= {"VB", "VBP"}
    before = place - 1
    while before >= 0 and tags[before] in _ADVERBS:
        before -= 1
    repaired = None
    if before >= 0:
        repaired = _after_auxiliary(words, tags, place, before, can) or _after_subject(words, tags, place, before, can)
    repaired = repaired or _after_determiner_or_preposition(words, tags, place, can)
    if repaired:
        return repaired
    return "IN" if word == "like" and tag in _VERBS else tag


def _of_apostrophe_s(words: Sequence[str], tags: Sequence[str], place: int) -> str:
    """Return the tag of 's: is or has, us, or a possessive."""
    before = words[place - 1] if place else ""
    if before in {"let", "lets"}:
        return "PRP"
    after = tags[place + 1] if place + 1 < len(tags) else ""
    is_verb = before in _BEFORE_IS or after in {"DT", "RB", "PRP$", "VBG", "IN", "TO", "PRP", "MD"}
    return "VBZ" if is_verb else "POS"


def _of_that(tags: Sequence[str], place: int) -> str:
    """Return the tag of "that": a determiner before a noun or a verb, else what it is."""
    after = tags[place + 1] if place + 1 < len(tags) else ""
    if after in {"VBZ", "MD"} and place and tags[place - 1] in _NOUNS:
        return "WDT"
    return "DT" if after in {"NN", "VBZ", "MD", ".", ","} else tags[place]


def _of_first(words: Sequence[str], tags: Sequence[str]) -> str:
    """Return the tag of the first word: a base form where it can be one and what follows seldom follows a noun."""
    tag, word = tags[0], words[0]
    is_base_form = tag in {"VBP", "VB"} or (tag in {"NN", "JJ"} and "VB" in possible(word))
    if word in _FIXED or not is_base_form:
        return tag
    if len(tags) > 1 and tags[1] in {"DT", "PRP", "PRP$", "RP"}:
        return "VB"
    return "VB" if lexicon().get(word) in {"VB", "VBP"} else tag


def _after_auxiliary(
    words: Sequence[str], tags: Sequence[str], place: int, before: int, can: frozenset[str]
) -> str | None:
    """Return the form after a modal, do, to, have and be; None for another word before."""
    tag, auxiliary = tags[place], words[before]
    is_negated = any(word in {"not", "n't", "never"} for word in words[before + 1 : place])
    if "VB" in can and tags[before] in {"MD", "TO"}:
        return "VB"
    if "VB" in can and auxiliary in DO and (is_negated or tag in _VERBS):
        return "VB"
    if auxiliary in HAVE | {"having"} and "VBN" in can and tag in _VERBS:
        return "VBN"
    if auxiliary not in BE | {"be", "been", "being"} or tags[before] == "POS":
        return None
    if words[place].endswith("ing") and "VBG" in can:
        return "JJ" if lexicon().get(words[place]) == "JJ" else "VBG"
    if tag in {"VBD", "VBN"} and "VBN" in can:
        return "VBN"
    return "JJ" if tag in {"VB", "VBP"} and "JJ" in can else None


def _after_subject(
    words: Sequence[str], tags: Sequence[str], place: int, before: int, can: frozenset[str]
) -> str | None:
    """Return the form after a pronoun that is a subject, or the object of "make" and "let"; None for another word."""
    tag, subject = tags[place], words[before]
    earlier, earlier_tag = (words[before - 1], tags[before - 1]) if before else ("", "")
    if subject in _OBJECTS and earlier in CAUSATIVES and "VB" in can and tag in _VERBS | {"NN"}:
        return "VB"
    if subject not in SUBJECTS:
        return None
    # "It" and "you" are objects in "love it so much", but not in "if it rains" and "I think it rains".
    is_object = subject in {"it", "you"} and earlier_tag in _VERBS | {"IN", "TO"} and earlier not in _CONJUNCTIONS
    if is_object and tag not in {"VBP", "VBZ", "VBD"}:
        return None
    if subject in {"he", "she", "it"}:
        if "VBZ" in can and tag in {"NNS", "VBZ"}:
            return "VBZ"
    # "Well", "even", "still" and "back" can be verbs, but are adverbs first of all.
    elif "VBP" in can and tag in {"VB", "NN", "IN", "JJ", "VBP", "RB"} and lexicon().get(words[place]) != "RB":
        return "VBP"
    return "VBD" if "VBD" in can and tag in {"VBN", "NN", "VBD", "VB"} else None


def _after_determiner_or_preposition(
    words: Sequence[str], tags: Sequence[str], place: int, can: frozenset[str]
) -> str | None:
    """Return the form after an article, a possessive or a preposition: a noun or a participle, never a finite verb."""
    tag = tags[place]
    if tags[place - 1] == "PRP$" or words[place - 1] in {"the", "a", "an", "every"}:
        if tag in {"VB", "VBP", "VBZ", "VBD"}:
            for other in ("NNS", "NN", "VBN") if tag == "VBZ" else ("NN", "VBN"):
                if other in can:
                    return other
    elif words[place - 1] in {"this", "that"} and tag == "NNS" and "VBZ" in can:
        return "VBZ"
    elif tags[place - 1] == "IN" and words[place - 1] not in _CONJUNCTIONS and tag in {"VB", "VBP"} and "NN" in can:
        return "NN"
    return None
