"""What a sentence is about, where that can be said outside its text: named in full, with its article and case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

LONGEST = 6
"""Words of a subject, without its article."""
SHORTEST = 3
"""Letters of a subject without its article, at least."""
_SIDES = frozenset("North South East West Northeast Northwest Southeast Southwest Most Part Some Out Because".split())
_INSIDE = re.compile(r"(?<=[a-z,;] )[A-Za-z][\w'’-]*")
_PARENTHESIS = re.compile(r"\s*\([^()]*\)\s*$")
_ALIAS = re.compile(r",\s+(?:also|often|sometimes|formerly|commonly|officially|or|abbreviated)\b[^,]*,?$")
_NAME_LINKS = frozenset("of the and de la le du von van der for in on at da di del des a an to or & – -".split())
_STARTS = frozenset(
    "this that these those it he she they we you i there here another other others each every either neither some "
    "many most much more less several all both half such what which who whom whose how why when where whenever "
    "while if unless although though because since until in on at for by with from as to of into under over after "
    "before during among between against within without despite like unlike according due his her its our their "
    "your my one two three four five six seven eight nine ten no not none nobody nothing only even also however "
    "thus therefore hence then now today recently currently yet still so but and or nor instead moreover "
    "furthermore first second third finally perhaps later once no any few part overall similarly additionally "
    "meanwhile".split()
)
"""Words that a subject does not begin with: they point elsewhere, count, or begin something else."""
_WITHIN = frozenset(
    "this that these those it its he his she her hers they their them we our us you your my me who which whose is "
    "are was were be been has have had does do did can could will would may might must shall should not than such "
    "same other another former latter above below following there here when where if because while also only just "
    "even most both said and or each every all some any many in for with without on at by from to between left "
    "out non".split()
)
"""Words that no subject holds: they point elsewhere, or make a clause of it. (Names may hold "and", "most" …)"""
_VAGUE = frozenset(
    "common good best better bad worse worst typical key notable recent major minor simple famous classic "
    "important main primary principal chief central big great large small new old early earlier late later latest "
    "last next final first second third other second-largest largest smallest greatest highest lowest current "
    "present modern popular similar different special particular certain single basic general original further "
    "related alternative possible useful significant well-known prominent interesting additional subsequent "
    "previous entire whole full true real usual common-sense local own actual future past".split()
)
_RELATIONAL = frozenset(
    "account addition advantage age aim aims amount analysis answer approach area argument article aspect basis "
    "benefit book case cause center centre chance change chapter characteristic choice city claim column command "
    "company component concept concern condition consequence content control cost country course criticism date "
    "day death decision default definition degree development difference difficulty direction disadvantage "
    "distance district edition effect effort element end error estimate event evidence example exception "
    "explanation fact factor feature field figure file focus folder form formation function game general goal "
    "government group growth half head history idea impact importance income increase index influence issue item "
    "job key kind lack language law length level limit line list location loss majority man meaning means measure "
    "member method mission mistake model motivation movement name nature need note number object objective office "
    "opinion option order origin owner page pair paper paragraph parameter part people percentage period person "
    "place plan point policy population position power practice price principle problem procedure process product "
    "program project property proportion purpose quality question range rate ratio reason region relation "
    "relationship report requirement research response result results review revolution role root row rule sample "
    "scale score season section seed sentence series service set shape share show side sign situation size "
    "solution song source speed stage standard state step story strategy street structure study style subject "
    "success sum support system table target task team term test text theme theory thing time title topic total "
    "town trend trial type unit use value variant variety version view village war way weight width winner woman "
    "word work world year years".split()
)
"""Nouns that say nothing without what they are of."""
_PERSONS = frozenset(
    "actor actress admiral architect archbishop artist astronaut author bishop captain chancellor chief coach "
    "commander composer cardinal dancer dictator diplomat director drummer emperor empress engineer explorer "
    "father founder friar general goalkeeper governor guitarist hero historian inventor judge king knight lawyer "
    "leader lecturer man mathematician merchant minister missionary monk musician navigator nobleman novelist nun "
    "officer painter philosopher physician pilot player poet politician pope preacher president priest prince "
    "princess producer professor prophet queen quarterback reformer researcher ruler sailor saint scholar "
    "sculptor senator singer soldier spy statesman student sultan teacher theologian trader translator traveler "
    "traveller woman writer son daughter businessman businesswoman monarch chair chairman chairwoman chairperson "
    "secretary-general director-general lord duke earl programmer designer chemist biologist economist".split()
)


@dataclass(frozen=True)
class Casing:
    """How words that a sentence may begin with are written inside sentences."""

    low: Counter[str]
    high: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Casing:
        """Count the words inside the sentences of texts."""
        found = Counter(word for text in texts for word in _INSIDE.findall(text))
        low, high = Counter[str](), Counter[str]()
        for word, number in found.items():
            (low if word[0].islower() else high)[word.lower()] += number
        return cls(low, high)

    def is_name(self, word: str) -> bool:
        """Say whether a word keeps its capital inside a sentence; one that is never seen there does."""
        if any(letter.isupper() or letter.isdigit() for letter in word[1:]):
            return True
        return self.low[word.lower()] <= self.high[word.lower()]


def subject_of(raw: str, casing: Casing, known: str = "") -> str:
    """Return a subject as it stands inside a question, with its article; empty where it is not named in full.

    Parameters
    ----------
    raw
        What stands between the beginning of a sentence and its verb.
    known
        The heading or title of its passage: "the" before a common noun is good where it is that.
    """
    core = _ALIAS.sub("", _PARENTHESIS.sub("", raw.strip().rstrip(","))).strip()
    words = core.split()
    if not words or len(words) > LONGEST + 1 or re.search(r"[^\w\s'’.+/&–-]", core) or core.endswith("."):
        return ""
    article = words[0].lower() if words[0].lower() in {"the", "a", "an"} and len(words) > 1 else ""
    rest = words[1:] if article else words
    if len(bare(core)) < SHORTEST or not rest[0][0].isalpha() or (rest[0] in _SIDES and "of" in rest):
        return ""
    if rest[0].lower() in _STARTS or len(rest) > LONGEST:
        return ""
    if rest[1:] == [] and rest[0].isupper() and casing.low[rest[0].lower()]:
        return ""  # FILE, where texts speak of a file: a place to fill in
    if not article and rest[1:] == [word.lower() for word in rest[1:]] and not casing.is_name(rest[0]):
        rest = [rest[0].lower(), *rest[1:]]
    if _is_name(rest):
        return " ".join([article, *rest] if article else rest)
    if not _is_full(rest) or (article == "the" and " ".join(rest).lower() not in _bare(known)):
        return ""
    return " ".join([article, *rest] if article else rest)


def is_person(predicate: str) -> bool:
    """Say whether what follows "was a" calls somebody a person."""
    phrase = re.split(r",|\b(?:who|that|which|of|in|from|for|and|at|with|on|by|to)\b", predicate, maxsplit=1)[0]
    words = re.findall(r"[\w-]+", phrase.lower())
    return bool(words) and (
        words[-1] in _PERSONS
        or words[-1].removesuffix("s") in _PERSONS
        or words[-1].rstrip("s").endswith(("ist", "ician"))
    )


def bare(subject: str) -> str:
    """Return a subject without its article, lower-cased: what subjects are compared by."""
    return re.sub(r"^(?:the|a|an)\s+", "", " ".join(subject.split()).lower())


def _is_name(words: list[str]) -> bool:
    """Say whether words are a proper name: all have a capital but for the small ones between."""
    return all(word[0].isupper() or (place > 0 and word in _NAME_LINKS) for place, word in enumerate(words))


def _is_full(words: list[str]) -> bool:
    """Say whether a common noun names its thing outside its text."""
    low = [word.lower() for word in words]
    if any(word in _WITHIN for word in low) or low[-1].endswith("ly") or low[0].endswith(("ly", "ing")):
        return False
    head = low[: low.index("of")] if "of" in low[1:] else low
    if head is not low and head[-1] in _RELATIONAL:
        return False
    telling = [word for word in head if word not in _VAGUE]
    return bool(telling) and not (len(telling) == 1 and (telling[0] in _RELATIONAL or len(telling) < len(head)))


def _bare(known: str) -> tuple[str, ...]:
    return (bare(known),) if known else ()
