"""Lower-casing the first word of a sentence that is joined to another, unless the word is a name."""

from __future__ import annotations

import re
from functools import cache

from embassay.testsets.english.brill import lexicon
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.word_classes import wordset

ALWAYS_LOW = wordset(
    "a an the this that these those there here it he she they we you its his her their our your my one two three four "
    "five six seven eight nine ten some any all both each every many most much more few several such other another no "
    "none not only in on at by for from of to with within without into onto over under between among during after "
    "before since until through throughout against across along around despite unlike like as if when while where "
    "although though because unless once whether how what who which whose why and but or so yet nor then thus hence "
    "however therefore also later now today still even just perhaps instead according due because neither either "
    "what whatever upon about above below behind beside besides except per via whilst amongst"
)
_PEOPLES = wordset("arabic byzantine croatian french mongol mongolian nigerian polish serbian soviet")
"""Words with a capital that the lexicon does not have, or has in lower case."""
_NAMES_TOO = frozenset({"NN", "VB", "VBP", "VBZ", "VBD", "MD", "IN", "UH", "FW"})
"""Tags of common words that are also names: China, Bill, Mark, May."""
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def lowered(sentence: str, other: str = "") -> str | None:
    """Return a sentence with its first word in lower case, unless it is a name; None if that is not certain.

    Parameters
    ----------
    other
        Another text. If it has the word inside a sentence, its spelling there decides.
    """
    first = _WORD.match(sentence)
    if not first:
        return sentence
    word, rest = first.group(), sentence[first.end() :]
    stem = re.split("['’]", word)[0]
    low = stem.lower()
    has_inner_capital = any(letter.isupper() for letter in word[1:])
    if stem == "I" or has_inner_capital or not word[0].isupper():
        return sentence
    lowered_sentence = sentence[0].lower() + sentence[1:]
    if low in ALWAYS_LOW:
        return lowered_sentence
    # The other text starts with a capital in any case, so that its first letter says nothing.
    keeps_capital = _has_capital_inside(stem, f"{rest} {other[1:]}")
    if keeps_capital is None:
        before_capital = re.match(r"\s+[A-Z]", rest) is not None
        keeps_capital = _is_name(low.partition("-")[0], before_capital, is_possessive=stem != word)
    if keeps_capital is None:
        return None
    if keeps_capital:
        return sentence
    return lowered_sentence


def ready() -> None:
    """Check that the word lists are installed, and load them.

    Raises
    ------
    MissingExtraError
        If textblob or lemminflect is not installed.
    """
    lexicon()
    possible("word")


def _has_capital_inside(word: str, text: str) -> bool | None:
    """Return whether a word has a capital inside the sentences of a text; None if it does not occur, or both ways."""
    is_lower_case = re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text) is not None
    has_capital = re.search(rf"(?<=[\w,;] ){re.escape(word)}(?!\w)", text) is not None
    return None if is_lower_case == has_capital else has_capital


@cache
def _is_name(low: str, before_capital: bool, is_possessive: bool) -> bool | None:
    """Return whether a word is a name, according to the lexicon; None if it is not certain.

    Parameters
    ----------
    before_capital
        Whether the next word has a capital, so that both may be one name.
    is_possessive
        Whether the word ends in 's; if the lexicon does not have it, it is a name then.
    """
    # The most frequent tags of the word in lower case and with a capital.
    common, name = lexicon().get(low, ""), lexicon().get(low.capitalize(), "")
    if common.startswith("NNP") or low in _PEOPLES:
        return True
    if common:
        may_be_name = name.startswith("NNP") and common in _NAMES_TOO
        may_be_part_of_name = before_capital and common.startswith("NN")
        return None if may_be_name or may_be_part_of_name else False
    # The lexicon does not have the word in lower case.
    is_in_dictionary = bool(possible(low))
    if is_in_dictionary:
        return None if name or before_capital else False
    return True if name or before_capital or is_possessive else None
