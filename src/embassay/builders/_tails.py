"""What may follow the exchanged word so that its opposite fits as well: *good at chess*, not *good enough*."""

from __future__ import annotations

from embassay.builders._verbs import STOPS, lower, wordset
from embassay.builders._words import Word

TIMES = wordset(
    "now today here there anyway then tonight tomorrow yesterday right this that week year month morning evening time "
    "at the moment these days either lately recently"
) - {"either"}
BARE = wordset(
    "right open closed shut dead alive awake asleep clean dirty expensive cheap simple complex wise true false"
)
"""Adjectives that nothing but a time or a place follows."""
PREPOSITIONS = frozenset({"in", "on", "at", "for", "with", "about", "from", "during", "inside", "outside", "near"})
OF = wordset("aware unaware capable incapable worthy unworthy typical atypical certain uncertain conscious unconscious")
NO_PREPOSITION = wordset(
    "responsible irresponsible dependent independent safe dangerous fit unfit clear unclear pleased displeased "
    "sensitive insensitive"
)
INFINITIVE = wordset(
    "easy difficult hard bad good possible impossible likely unlikely able unable necessary unnecessary legal illegal "
    "lawful unlawful dangerous fair unfair willing unwilling wise unwise foolish smart stupid useful useless important "
    "unimportant reasonable unreasonable realistic unrealistic happy unhappy polite impolite rational irrational "
    "moral immoral ethical unethical acceptable unacceptable appropriate inappropriate healthy unhealthy"
)
BARRED = wordset(
    "enough than though because since when while until before after unless if so but or and either neither instead "
    "rather just only even all every any some most more less much many as yet anymore ever both not never no that "
    "which who what how why whatever whether lol better best bit too lot everything everyone everybody anything anyone "
    "anybody something someone very really few several always like"
)
FIXED = frozenset(
    {("good", "for"), ("bad", "for"), ("happy", "for"), ("unhappy", "for"), ("good", "with"), ("bad", "with")}
)
"""Adjectives whose meaning changes with the word after them: ``feel bad for``."""
SUBJECTIVE = frozenset({"i", "he", "she", "we", "they"})
OBJECT_FIRST = ("DT", "PRP", "PRP$", "NN", "NNS", "NNP", "NNPS", "VBG")
TRANSITIVE = frozenset(
    {"like", "dislike", "trust", "distrust", "mistrust", "obey", "disobey", "accept", "reject", "refuse"}
)
TRANSITIVE_TOO = frozenset({"include", "exclude", "permit", "forbid", "allow", "prohibit"})
OBJECTS = {
    **dict.fromkeys(
        ("win", "lose"), wordset("game match race election war battle case final argument fight cup title")
    ),
    **dict.fromkeys(("pass", "fail"), wordset("exam test class course inspection audit")),
}
"""Verbs that are opposites with these objects only (*lose the keys* is not the opposite of *win the keys*)."""
LONGEST = 8
"""Words after the exchanged word, at most."""


def follows(words: tuple[Word, ...], place: int, word: str, *, verb: bool = False, adverb: bool = False) -> str:
    """Return why what follows a word does not fit its opposite; empty where it does."""
    rest = words[place + 1 :]
    while rest and (rest[-1].text in STOPS or not (rest[-1].text[0].isalnum() or rest[-1].text[0] == "[")):
        rest = rest[:-1]
    lows = [lower(other) for other in rest]
    if verb:
        return _after_verb(rest, lows, word)
    if not rest or set(lows) <= TIMES:
        return "" if lows[:1] != ["right"] or lows[1:2] == ["now"] else "other words after it"
    if adverb:
        return "other words after it"
    return _after_adjective(rest, lows, word)


def _after_adjective(rest: tuple[Word, ...], lows: list[str], word: str) -> str:
    if reason := _barred(rest, lows):
        return reason
    if word in BARE:
        return "other words after it"
    if lows[0] == "to":
        infinitive = len(rest) > 1 and rest[1].tag in ("VB", "VBP")
        idiom = lows[1:2] and lows[1] in ("say", "go", "see", "hear", "know", "meet", "assume", "bet", "be")
        fits = infinitive and word in INFINITIVE and not idiom
        return "" if fits else "an infinitive that its opposite does not take"
    if word in ("able", "unable", "hard", "likely", "unlikely") or (word, lows[0]) in FIXED:
        return "other words after it"
    if lows[0] in PREPOSITIONS and word not in NO_PREPOSITION:
        return ""
    return "" if lows[0] == "of" and word in OF else "other words after it"


def _barred(rest: tuple[Word, ...], lows: list[str]) -> str:
    """Return what bars everything that may follow: another clause, a quantifier, a second adjective."""
    if len(rest) > LONGEST:
        return "too much after it"
    if rest[0].tag in ("CC", ",") or lows[0] in ("and", "or", "but"):
        return "several adjectives or clauses"
    if BARRED & set(lows) or any(other.tag in (",", ":", "VBZ", "VBD", "VBP", "MD") for other in rest[2:]):
        return "another clause, a comparison or a quantifier after it"
    return ""


def _after_verb(rest: tuple[Word, ...], lows: list[str], word: str) -> str:
    barred = BARRED - ({"that"} if word in ("agree", "disagree") else set())
    if len(rest) > LONGEST or barred & set(lows) or any(other.tag in (",", ":", "CC") for other in rest):
        return "another clause, a comparison or a quantifier after it"
    if word in ("agree", "disagree"):
        return "" if not lows or lows[0] in ("with", "on", "that") else "other words after it"
    if word in ("approve", "disapprove"):
        return "" if lows[:1] == ["of"] else "other words after it"
    if word in ("succeed", "remember", "forget"):
        fits = (word == "succeed" and not lows) or (
            word != "succeed" and bool(lows) and rest[0].tag in (*OBJECT_FIRST, "TO")
        )
        return "" if fits else "other words after it"
    if word in OBJECTS:
        alone = not lows and word in ("win", "lose", "fail")
        return (
            ""
            if alone or (len(lows) in (1, 2) and lows[-1] in OBJECTS[word])
            else "an object that its opposite does not take"
        )
    if word in TRANSITIVE | TRANSITIVE_TOO and lows[:1] != ["me"]:
        clause = word in ("like", "dislike") and lows[:1] and lows[0] in SUBJECTIVE
        return "" if rest and rest[0].tag in OBJECT_FIRST and not clause else "other words after it"
    return "other words after it"
