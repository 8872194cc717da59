"""Penn treebank tags of an English sentence: Brill's tagger, with corrections for everyday sentences.

The tags that a word can have are taken from lemminflect's dictionary (Jascob 2020). The corrections use contexts that
allow only one tag: after a modal a verb is a base form, after a pronoun it is finite, after a possessive there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from embassay.testsets.english.brill import by_context, lexicon
from embassay.testsets.english.installed import lemminflect
from embassay.testsets.english.word_classes import BE, DO, HAVE, SUBJECTS, wordset

_CONJUNCTIONS = wordset(
    "if because although since that as while before after until though whether than when unless once like so"
)
"""Words that may start a clause, although the lexicon calls some of them prepositions."""
_ADVERBS = frozenset({"RB", "RBR", "RBS"})
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS", "CD"})
_VERBS = frozenset({"VB", "VBP", "VBZ", "VBD", "VBN", "VBG"})
_CERTAIN = frozenset({"NNP", "CD", ".", ",", ":"})
"""Tags that the form of a word determines."""
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
"""Words that always have the same tag."""
_ENDINGS = {"ing": "VBG", "ly": "RB", "ed": "VBN", "ous": "JJ", "ful": "JJ", "able": "JJ", "ible": "JJ"}


def tags(words: Sequence[str]) -> tuple[str, ...]:
    """Return the Penn tag of each word of a text; punctuation marks get ``.``, ``,`` or ``:``."""
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
    # From left to right, because a correction uses the corrected tags before it.
    for place in range(len(words)):
        current[place] = _corrected(lower, current, place)
    return tuple(current)


@lru_cache(maxsize=200_000)
def possible(word: str) -> frozenset[str]:
    """Return the Penn tags of nouns, verbs, adjectives and adverbs that a lower-case word can have; may be empty."""
    possible_tags = set[str]()
    for part, lemmas in lemminflect().getAllLemmas(word).items():
        for lemma in lemmas:
            forms = lemminflect().getAllInflections(lemma, part)
            possible_tags.update(tag for tag, names in forms.items() if word in names)
            # The dictionary has no participle if it is also an adjective: "accepted".
            if "VBN" not in forms and word in forms.get("VBD", ()):
                possible_tags.add("VBN")
    return frozenset(possible_tags)


# --- The tag of a word by itself ---


def _alone(word: str, is_first: bool) -> str:
    """Return the tag of a word without its context.

    Parameters
    ----------
    is_first
        Whether it is the first word of a sentence, so that its capital does not show a name.
    """
    low = word.lower()
    # These two are looked up first: in lower case they are pronouns, which _FIXED has.
    if word in {"US", "IT"}:
        return "NNP"
    if low in _FIXED:
        return _FIXED[low]
    tag = _of_form(word)
    if tag:
        return tag

    has_capital = word[0].isupper()
    # Inside a sentence, a capital shows a name, unless the lexicon has the word and does not call it one.
    if has_capital and not is_first:
        is_name = low not in lexicon() or lexicon().get(word, "").startswith("NNP")
        if is_name:
            return "NNP"
    tag_in_lexicon = lexicon().get(low) or lexicon().get(word)
    if tag_in_lexicon:
        # The lexicon may have only the name, as for "spam". In lower case it is a common word that the lexicon lacks.
        is_lower_case_name = tag_in_lexicon.startswith("NNP") and word.islower()
        if not is_lower_case_name:
            return tag_in_lexicon
    if has_capital and not possible(low):
        return "NNP"
    return _of_unknown(low)


def _of_form(word: str) -> str:
    """Return the tag of a punctuation mark, of a number, and of a word in brackets; empty for other words."""
    if not any(character.isalnum() for character in word):
        if word == ",":
            return ","
        if word[0] in ".!?…":
            return "."
        return ":"
    if word[0].isdigit() or word[0] in "$£€":
        return "CD"
    if word[0] == "[":
        return "NNP"
    return ""


def _of_unknown(word: str) -> str:
    """Return the tag of a lower-case word that is not in the lexicon: one that it can have, else by its ending."""
    for tag in ("NN", "NNS", "JJ", "VBD", "VBG", "VBZ", "VB", "RB", "JJR", "JJS", "VBN"):
        if tag in possible(word):
            return tag
    for ending, tag in _ENDINGS.items():
        if word.endswith(ending):
            return tag
    if "-" in word:
        return "JJ"
    if re.search(r"[^siu]s$", word):
        return "NNS"
    return "NN"


def _within_dictionary(word: str, tag: str) -> str:
    """Return the tag if the word can have it, else the most frequent tag of the word if it can have that."""
    is_checked = tag[:2] in {"VB", "NN", "JJ"} and tag not in {"VBP", "NNP", "NNPS"}
    if not is_checked or tag in possible(word):
        return tag
    most_frequent = lexicon().get(word, "")
    if most_frequent in possible(word):
        return most_frequent
    return tag


# --- Corrections by the context of the sentence ---


def _corrected(words: Sequence[str], tags: Sequence[str], place: int) -> str:
    """Return the tag of the word at index ``place``, corrected by the first rule that applies."""
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
    corrected = None
    if before >= 0:
        corrected = _after_auxiliary(words, tags, place, before, can)
        corrected = corrected or _after_subject(words, tags, place, before, can)
    corrected = corrected or _after_determiner_or_preposition(words, tags, place, can)
    if corrected:
        return corrected
    if word == "like" and tag in _VERBS:
        return "IN"
    return tag


def _of_apostrophe_s(words: Sequence[str], tags: Sequence[str], place: int) -> str:
    """Return the tag of 's, which may be "is" or "has", "us", or a possessive."""
    before = ""
    if place:
        before = words[place - 1]
    if before in {"let", "lets"}:
        return "PRP"
    after = ""
    if place + 1 < len(tags):
        after = tags[place + 1]
    # No noun phrase starts with these, so a possessive cannot stand before them.
    precedes_no_noun = after in {"DT", "RB", "PRP$", "VBG", "IN", "TO", "PRP", "MD"}
    if before in _BEFORE_IS or precedes_no_noun:
        return "VBZ"
    return "POS"


def _of_that(tags: Sequence[str], place: int) -> str:
    """Return the tag of "that": a relative pronoun or a determiner in certain contexts, else the tag that it has."""
    after = ""
    if place + 1 < len(tags):
        after = tags[place + 1]
    # "The dog that barks".
    follows_noun = place > 0 and tags[place - 1] in _NOUNS
    if follows_noun and after in {"VBZ", "MD"}:
        return "WDT"
    # "That dog", "that is", "I like that."
    if after in {"NN", "VBZ", "MD", ".", ","}:
        return "DT"
    return tags[place]


def _of_first(words: Sequence[str], tags: Sequence[str]) -> str:
    """Return the tag of the first word: a base form if it can be one and the next word seldom follows a noun."""
    tag, word = tags[0], words[0]
    may_be_base_form = tag in {"VBP", "VB"} or (tag in {"NN", "JJ"} and "VB" in possible(word))
    if word in _FIXED or not may_be_base_form:
        return tag
    # "Watch the dog": a determiner or pronoun is the beginning of an object.
    has_object = len(tags) > 1 and tags[1] in {"DT", "PRP", "PRP$", "RP"}
    is_mostly_verb = lexicon().get(word) in {"VB", "VBP"}
    if has_object or is_mostly_verb:
        return "VB"
    return tag


def _after_auxiliary(
    words: Sequence[str], tags: Sequence[str], place: int, before: int, can: frozenset[str]
) -> str | None:
    """Return the tag of a word after a modal, do, to, have or be; None after other words.

    Parameters
    ----------
    before
        The index of the last word before it that is not an adverb.
    can
        The tags that the word can have.
    """
    tag, auxiliary = tags[place], words[before]
    adverbs = words[before + 1 : place]
    is_negated = not {"not", "n't", "never"}.isdisjoint(adverbs)
    if "VB" in can and tags[before] in {"MD", "TO"}:
        return "VB"
    if "VB" in can and auxiliary in DO and (is_negated or tag in _VERBS):
        return "VB"
    if auxiliary in HAVE | {"having"} and "VBN" in can and tag in _VERBS:
        return "VBN"
    if auxiliary not in BE | {"be", "been", "being"} or tags[before] == "POS":
        return None
    if words[place].endswith("ing") and "VBG" in can:
        if lexicon().get(words[place]) == "JJ":
            return "JJ"
        return "VBG"
    if tag in {"VBD", "VBN"} and "VBN" in can:
        return "VBN"
    if tag in {"VB", "VBP"} and "JJ" in can:
        return "JJ"
    return None


def _after_subject(
    words: Sequence[str], tags: Sequence[str], place: int, before: int, can: frozenset[str]
) -> str | None:
    """Return the tag of a word after a subject pronoun; None after other words.

    The parameters are those of :func:`_after_auxiliary`.
    """
    tag, subject = tags[place], words[before]
    earlier, earlier_tag = "", ""
    if before > 0:
        earlier, earlier_tag = words[before - 1], tags[before - 1]
    if subject not in SUBJECTS:
        return None
    # "It" and "you" are objects in "love it so much", but subjects in "if it rains" and "I think it rains".
    is_object = subject in {"it", "you"} and earlier_tag in _VERBS | {"IN", "TO"} and earlier not in _CONJUNCTIONS
    if is_object and tag not in {"VBP", "VBZ", "VBD"}:
        return None
    if subject in {"he", "she", "it"}:
        if "VBZ" in can and tag in {"NNS", "VBZ"}:
            return "VBZ"
    # "Well", "even", "still" and "back" can be verbs, but are mostly adverbs.
    elif "VBP" in can and tag in {"VB", "NN", "IN", "JJ", "VBP", "RB"} and lexicon().get(words[place]) != "RB":
        return "VBP"
    if "VBD" in can and tag in {"VBN", "NN", "VBD", "VB"}:
        return "VBD"
    return None


def _after_determiner_or_preposition(
    words: Sequence[str], tags: Sequence[str], place: int, can: frozenset[str]
) -> str | None:
    """Return the tag of a word after an article, a possessive or a preposition; None if it needs no correction.

    After an article or a possessive a finite verb is a noun or a participle; after a preposition it is a noun. After
    "this" and "that" a plural is a verb.
    """
    tag, before, tag_before = tags[place], words[place - 1], tags[place - 1]
    if tag_before == "PRP$" or before in {"the", "a", "an", "every"}:
        if tag in {"VB", "VBP", "VBZ", "VBD"}:
            alternatives = ["NN", "VBN"]
            if tag == "VBZ":
                alternatives = ["NNS", "NN", "VBN"]
            return next((other for other in alternatives if other in can), None)
        return None
    if before in {"this", "that"} and tag == "NNS" and "VBZ" in can:
        return "VBZ"
    is_after_preposition = tag_before == "IN" and before not in _CONJUNCTIONS
    if is_after_preposition and tag in {"VB", "VBP"} and "NN" in can:
        return "NN"
    return None
