"""Recognising English texts by their function words, compared with those of other languages, and by their letters.

Function words are so frequent that a sentence of eight words nearly always has one (the small-word method of language
identification; Grefenstette 1995, "Comparing two language identification schemes"). The lists are our own.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache

from embassay.core.errors import InputError
from embassay.stats.lexical.words import composed

FUNCTION_WORDS = {
    "English": "the of and to in is that it was for on are as with his they at be this from have or had by not but "
    "what all were we when your can said there an each which she do how their if will up other about out many then "
    "them these so some her would make him has two more could go my than been who its did get may i you he me a am no "
    "just don't it's i'm that's can't because really never should us our here does too very",
    "German": "der die das und ist nicht ich sie mit den von zu ein eine auf für dem des im auch es sich wir war hat "
    "wie aber nach bei noch nur oder sind kann wenn dass einen sehr er mir mich haben wird",
    "French": "le la les de des et est un une du dans que qui pour pas sur avec ce il elle je nous vous au aux sont "
    "mais ou où par plus ne se cette son ses être c'est très était fait",
    "Spanish": "el la los las de y que en un una es por con para no se su al lo del como más pero sus le ya está son "
    "muy también fue hay era porque cuando ser esta este",
    "Italian": "il lo la gli le di e che è un una per non con si da in del della sono come ma anche più nel al questo "
    "dei ha alla era io molto delle",
    "Portuguese": "o a os as de e que do da em um uma para com não se por mais na no como mas ao foi são é dos das ele "
    "está muito também isso você eu",
    "Dutch": "de het een en van ik is dat niet te op zijn met voor die er maar om aan hij ook als dan bij nog naar heb "
    "wel geen was we uit deze wordt",
    "Swedish": "och att det som en är på för med jag av inte den till har ett om var men så han från vi kan när ska "
    "eller mycket hade de",
    "Danish": "og at det er en på jeg ikke til som af med den for de har et der men så han vi kan var fra eller meget "
    "være også",
    "Polish": "i w nie na się że to jest z do jak o co ale za tak po od był dla jego czy przez bardzo są już tylko",
    "Czech": "a v se na je že to s z do jsem ale jako o za byl jsou by pro tak po co nebo když jeho velmi",
    "Finnish": "ja on ei se että hän oli mutta kun niin ovat myös tai joka ole mitä kuin minä tämä sen nyt vain hyvin",
    "Turkish": "ve bir bu da de için ne çok o ama gibi daha var mi ile ben değil sen olarak en kadar ki her",
    "Hungarian": "a az és hogy nem is egy ez van meg de csak volt mint ha már még el én ezt azt nagyon",
    "Romanian": "și de la în a nu că un o este cu pe să din pentru mai ce care sunt am au dar fost foarte",
    "Indonesian": "yang dan di ini itu dengan untuk tidak dari dalam akan pada juga saya ke karena ada mereka bisa",
}
HAN_AND_KANA = "Chinese or Japanese"
"""Counted as one script, as Japanese mixes the two."""
_WORDS = {name: frozenset(words.split()) for name, words in FUNCTION_WORDS.items()}
_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
TELLING = 6
"""The minimum number of words of a sentence that is recognised as foreign because it has no function word."""
ENOUGH = 0.5
"""The minimum share of English sentences of a file."""


def language_of(text: str) -> str:
    """Return the name of a text's language; ``another`` for an unlisted language, empty if it is not recognised.

    It is the language with the most function words. Two are needed for a language other than English, and English wins
    a tie. A text with mostly non-Latin letters is in ``another`` language; a short text without function words is not
    recognised.
    """
    tokens = _TOKEN.findall(composed(text).replace("’", "'").lower())
    if script_of("".join(tokens)) not in ("Latin", ""):
        return "another"
    counts = dict[str, int]()
    for name, words in _WORDS.items():
        counts[name] = sum(token in words for token in tokens)
    # English is the first of the languages, so it wins a tie.
    most_frequent = max(counts, key=lambda name: counts[name])
    if counts[most_frequent] > max(counts["English"], 1):
        return most_frequent
    if counts["English"]:
        return "English"
    if len(tokens) >= TELLING:
        return "another"
    return ""


def may_be_english(text: str) -> bool:
    """Return whether a text is English, or too short to recognise its language."""
    return language_of(text) in {"English", ""}


def refuse_other(texts: Iterable[str], name: str) -> None:
    """Raise InputError if most of the texts are not English.

    Parameters
    ----------
    name
        The name of the texts in the message: the file.
    """
    languages = Counter(filter(None, map(language_of, texts)))
    if not languages:
        return
    english = languages["English"] / languages.total()
    if english >= ENOUGH:
        return
    others = [language for language, _ in languages.most_common() if language not in {"English", "another"}]
    looks = "most are in another language"
    if others:
        looks = f"most look {others[0]}"
    share = f"{english:.0%} of its sentences look English"
    raise InputError(f"{name}: {share}, {looks}; the rules know English only; --language any builds all the same")


def script_of(text: str) -> str:
    """Return the script of most letters of a text: ``Latin``, ``Chinese or Japanese`` …; empty without letters."""
    return next((script for script, _ in scripts_of(text).most_common(1)), "")


def scripts_of(text: str) -> Counter[str]:
    """Return the number of letters of each script."""
    return Counter(_script(letter) for letter in text if letter.isalpha())


@cache
def _script(letter: str) -> str:
    """Return the script of a letter, with which its Unicode name begins; of a superscript, that of the letter in it."""
    plain = unicodedata.normalize("NFKC", letter)[-1]
    first = re.split("[ -]", unicodedata.name(plain, "?"))[0]
    return HAN_AND_KANA if first in ("CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPHIC") else first.capitalize()
