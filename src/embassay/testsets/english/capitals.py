"""The first word of a sentence that comes to stand inside another: does it keep its capital?"""

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
"""Words with a capital that the lexicon lacks, or has in small letters."""
_NAMES_TOO = frozenset({"NN", "VB", "VBP", "VBZ", "VBD", "MD", "IN", "UH", "FW"})
"""Tags of common words that are names as well: China, Bill, Mark, May."""
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def lowered(sentence: str, other: str = "") -> str | None:
    """Return a sentence with its first word as it is spelt inside one; None where a name cannot be told from a word.

    Parameters
    ----------
    other
        A text in which the word may stand as well, in small letters or, inside a sentence, with a capital.
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
    small = sentence[0].lower() + sentence[1:]
    if low in ALWAYS_LOW:
        return small
    keeps_capital = _spelt_inside(stem, f"{rest} {other[1:]}")
    if keeps_capital is None:
        before_capital = re.match(r"\s+[A-Z]", rest) is not None
        keeps_capital = _is_name(low.partition("-")[0], before_capital, is_possessive=stem != word)
    if keeps_capital is None:
        return None
    return sentence if keeps_capital else small


def ready() -> None:
    """Make sure that names can be told from words.

    Raises
    ------
    MissingExtraError
        If textblob or lemminflect is not installed.
    """
    lexicon()
    possible("word")


def _spelt_inside(word: str, text: str) -> bool | None:
    """Return whether a word keeps its capital inside a text; None where it does not stand there."""
    small = re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text)
    large = re.search(rf"(?<=[\w,;] ){re.escape(word)}(?!\w)", text)
    return None if bool(small) == bool(large) else bool(large)


@cache
def _is_name(low: str, before_capital: bool, is_possessive: bool) -> bool | None:
    """Return whether a word of the lexicon is a name; None where it may be one.

    Parameters
    ----------
    before_capital
        Whether the next word has a capital.
    is_possessive
        Whether an 's ends the word: what the lexicon lacks is a name then.
    """
    common, name = lexicon().get(low, ""), lexicon().get(low.capitalize(), "")
    if common.startswith("NNP") or low in _PEOPLES:
        return True
    is_word = bool(possible(low))
    if not common:
        if is_word:
            return None if name or before_capital else False
        return True if name or before_capital or is_possessive else None
    if name.startswith("NNP") and common in _NAMES_TOO:
        return None
    return None if before_capital and common.startswith("NN") else False
