"""The first word of a sentence that comes to stand inside another: does it keep its capital?"""

from __future__ import annotations

import re
from functools import cache

from embassay.testsets.english.clauses import wordset
from embassay.testsets.english.tagger import lexicon, possible

ALWAYS_LOW = wordset(
    "a an the this that these those there here it he she they we you its his her their our your my one two three four "
    "five six seven eight nine ten some any all both each every many most much more few several such other another no "
    "none not only in on at by for from of to with within without into onto over under between among during after "
    "before since until through throughout against across along around despite unlike like as if when while where "
    "although though because unless once whether how what who which whose why and but or so yet nor then thus hence "
    "however therefore also later now today still even just perhaps instead according due because neither either "
    "what whatever upon about above below behind beside besides except per via whilst amongst"
)
_NAMING = wordset("new great united north south east west northern southern eastern western saint grand royal national")
"""Adjectives that names begin with."""
_PEOPLES = wordset(
    "african american arab arabic argentine asian australian austrian babylonian belgian bolivian brazilian british "
    "bulgarian byzantine canadian celtic chilean chinese colombian croatian cuban czech danish dutch egyptian english "
    "ethiopian european finnish flemish french german germanic greek hungarian indian indonesian iranian iraqi irish "
    "israeli italian japanese jewish kenyan korean latin lebanese mexican mongol mongolian moroccan muslim islamic "
    "christian catholic protestant lutheran buddhist hindu nigerian nordic norman norwegian ottoman pakistani persian "
    "peruvian polish portuguese roman romanian russian scottish scandinavian serbian slavic soviet spanish swedish "
    "swiss syrian thai turkish ukrainian venetian victorian georgian elizabethan vietnamese welsh january february "
    "april june july september october november december monday tuesday wednesday thursday friday saturday sunday"
)
"""Words with a capital that the lexicon has in small letters as well."""
_TITLES = wordset(
    "governor mayor president king queen prince princess pope saint sir lord lady general colonel captain professor "
    "doctor judge senator minister emperor empress duke earl count bishop archbishop father chancellor"
)
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
    found = _WORD.match(sentence)
    if not found:
        return sentence
    word, rest = found.group(), sentence[found.end() :]
    stem = re.split("['’]", word)[0]
    low = stem.lower()
    if word in {"I", "I'm", "I've", "I'd", "I'll"} or sum(letter.isupper() for letter in word) > (word[0].isupper()):
        return sentence
    small = word[0].lower() + sentence[len(word[:1]) :]
    if low in ALWAYS_LOW:
        return small
    if (kept := _spelt_inside(stem, f"{rest} {other[1:]}")) is not None:
        return sentence if kept else small
    kept = _is_name(low.partition("-")[0], bool(re.match(r"\s+[A-Z]", rest)), stem != word)
    return None if kept is None else sentence if kept else small


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
    """Say whether a word keeps its capital inside a text; None where it does not stand there."""
    small = re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text)
    large = re.search(rf"(?<=[\w,;] ){re.escape(word)}(?!\w)", text)
    return None if bool(small) == bool(large) else bool(large)


@cache
def _is_name(low: str, before_capital: bool, possessive: bool) -> bool | None:
    """Say whether a word of the lexicon is a name; None where it may be one.

    Parameters
    ----------
    before_capital
        Whether the next word has a capital.
    possessive
        Whether an 's ends the word: what the lexicon lacks is a name then.
    """
    common, name = lexicon().get(low, ""), lexicon().get(low.capitalize(), "")
    if common.startswith("NNP"):
        return True
    if name and not common:
        return None if possible(low) else True
    if low in _PEOPLES or (before_capital and low in _TITLES):
        return True
    if not common:
        known = bool(possible(low))
        return True if not known and (before_capital or possessive) else None if before_capital or not known else False
    if name.startswith("NNP") and common in _NAMES_TOO:
        return None
    if before_capital and (low in _NAMING or common.startswith("NN")):
        return None
    return False
