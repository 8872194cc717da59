"""Antonyms of WordNet that are opposites: what is not the one is the other.

Vahtola et al. (2022, section 3) removed by hand the antonyms of WordNet that are not opposites (*hungry*, *thirsty*).
Here a pair is

- **sure** if a prefix or ``-less`` negates (*fair*, *unfair*), or if our own list contains it;
- **doubtful**, for people to decide, if there is a middle ground (*tall*, *short*) or another sense (*real*,
  *unreal*), or if no list contains it;
- **refused** if the words are not opposites at all (*left*, *right*).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from embassay.testsets.english.parser import possible
from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.wordnet import antonyms
from embassay.testsets.english.words import Words

PREFIXES = ("un", "in", "im", "ir", "il", "dis", "ab", "a", "mis")


def _pairs(text: str) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(pair.split("/")) for pair in text.split())


SURE = {
    "a": _pairs(
        "good/bad easy/difficult easy/hard true/false right/wrong dead/alive asleep/awake guilty/innocent "
        "safe/dangerous open/closed smart/stupid wise/foolish clean/dirty expensive/cheap "
        "useful/useless simple/complex present/absent temporary/permanent"
    ),
    "v": _pairs(
        "agree/disagree like/dislike trust/distrust approve/disapprove obey/disobey succeed/fail "
        "accept/reject include/exclude win/lose"
    ),
}
"""Opposites without a negating prefix or suffix, by WordNet's letter of the part of speech."""
DOUBTFUL = {
    "a": _pairs(
        "real/unreal easy/uneasy cool/uncool human/inhuman used/unused born/unborn done/undone broken/unbroken "
        "perfect/imperfect decent/indecent secure/insecure personal/impersonal different/indifferent even/uneven "
        "just/unjust sound/unsound due/undue partial/impartial sane/insane like/unlike sure/unsure welcome/unwelcome "
        "ready/unready angry/unangry afraid/unafraid ashamed/unashamed hurt/unhurt loved/unloved funny/unfunny "
        "moved/unmoved touched/untouched attached/unattached concerned/unconcerned finished/unfinished "
        "natural/unnatural religious/irreligious seen/unseen bound/unbound helpful/helpless "
        "worn/unworn wanted/unwanted shaven/unshaven beautiful/unbeautiful moral/amoral sexual/asexual "
        "political/apolitical restless/restful american/unamerican cooked/uncooked conditional/unconditional "
        "limited/unlimited inclined/disinclined armed/disarmed mature/immature passionate/dispassionate "
        "restrained/unrestrained paid/unpaid forgettable/unforgettable believable/unbelievable credible/incredible "
        "settled/unsettled canny/uncanny nerved/unnerved interested/disinterested content/discontent "
        "addressed/unaddressed aggressive/unaggressive altered/unaltered arranged/disarranged "
        "colored/uncolored committed/uncommitted comparable/incomparable considerable/inconsiderable "
        "cut/uncut dedicated/undedicated dependable/undependable determined/undetermined edifying/unedifying "
        "emotional/unemotional enchanted/disenchanted exact/inexact filled/unfilled formed/unformed "
        "free/unfree inviting/uninviting laced/unlaced leaded/unleaded manned/unmanned marked/unmarked "
        "matched/mismatched measurable/immeasurable mindful/unmindful obvious/unobvious operative/inoperative "
        "polished/unpolished politic/impolitic provocative/unprovocative purposeful/purposeless "
        "questionable/unquestionable quiet/unquiet recoverable/unrecoverable repentant/unrepentant "
        "savory/unsavory subordinate/insubordinate tied/untied treated/untreated turned/unturned "
        "veiled/unveiled wary/unwary calculable/incalculable changeable/unchangeable "
        "compromising/uncompromising conditioned/unconditioned contented/discontented critical/uncritical "
        "declared/undeclared differentiated/undifferentiated diluted/undiluted discriminate/indiscriminate "
        "distinct/indistinct drinkable/undrinkable effortful/effortless exhaustible/inexhaustible "
        "expressible/inexpressible fallible/infallible fixed/unfixed glorious/inglorious hurried/unhurried "
        "integrative/disintegrative involved/uninvolved loaded/unloaded malicious/unmalicious mated/unmated "
        "material/immaterial operable/inoperable opposed/unopposed passable/impassable "
        "premeditated/unpremeditated punished/unpunished resolute/irresolute servile/unservile "
        "thematic/unthematic used/misused variable/invariable vulnerable/invulnerable womanly/unwomanly "
        "written/unwritten affected/unaffected frozen/unfrozen holy/unholy orderly/disorderly pious/impious "
        "proportionate/disproportionate scrupulous/unscrupulous merciful/merciless charged/uncharged "
        "ordered/disordered stressed/unstressed potent/impotent mortal/immortal reconstructed/unreconstructed "
        "lined/unlined definite/indefinite mediate/immediate adjusted/unadjusted structured/unstructured "
        "regular/irregular civil/uncivil coated/uncoated communicative/uncommunicative "
        "controlled/uncontrolled cautious/incautious organic/inorganic proved/unproved improved/unimproved "
        "hopeful/hopeless powerful/powerless tasteful/tasteless colorful/colorless intended/unintended "
        "noticed/unnoticed sold/unsold organized/disorganized saturated/unsaturated mature/immature "
        "moderate/immoderate certified/uncertified burdened/unburdened clothed/unclothed "
        "concealed/unconcealed continued/discontinued earned/unearned equivocal/unequivocal "
        "gracious/ungracious inhibited/uninhibited intelligible/unintelligible prepared/unprepared "
        "responsible/irresponsible professional/unprofessional"
    ),
    "v": _pairs(
        "respect/disrespect understand/misunderstand believe/disbelieve love/hate stay/leave stop/continue "
        "admit/deny enable/disable encourage/discourage"
    ),
}
"""Pairs that may not be opposites: another sense, a middle ground, an uncommon word. Unlisted antonyms without a prefix
are doubtful too if they are adjectives; if they are verbs, they are refused (*come*, *go*)."""
REFUSED = _pairs(
    "left/right other/same last/first next/last male/female up/down here/there give/take buy/sell come/go little/much "
    "few/many more/less most/least same/different more/fewer black/white east/west hungry/thirsty actual/possible "
    "nominal/real in/out out/safe fine/coarse gross/net major/minor on/off back/front this/that now/then"
)
"""Antonyms of WordNet that are not opposites: what is not the one need not be the other."""


@dataclass(frozen=True)
class Opposite:
    """An antonym from WordNet, and whether it is certainly an opposite."""

    lemma: str
    is_sure: bool


@lru_cache(maxsize=50_000)
def opposite_of(lemma: str, part: str) -> Opposite | None:
    """Return the antonym of a word that is most certainly its opposite; None if it has none.

    Parameters
    ----------
    lemma, part
        A base form and a letter of WordNet: ``a`` or ``v``.
    """
    sure, negating, doubtful = list[str](), list[str](), list[str]()
    for word in antonyms(lemma, part):
        pair = frozenset({lemma, word})
        if not word.isalpha() or pair in REFUSED:
            continue
        if pair in SURE[part]:
            sure.append(word)
        elif pair in DOUBTFUL[part]:
            doubtful.append(word)
        elif part == "a" and _negates(lemma, word):
            negating.append(word)
        elif part == "a" and possible(word):
            doubtful.append(word)
    if certain := sure + negating:
        return Opposite(certain[0], is_sure=True)
    return Opposite(doubtful[0], is_sure=False) if doubtful else None


def _negates(first: str, second: str) -> bool:
    """Return whether one adjective is the other with a negating prefix, or with ``-less`` for ``-ful``."""
    short, long = sorted((first, second), key=len)
    if not possible(short) or not possible(long):
        return False
    if any(long == prefix + short for prefix in PREFIXES):
        return True
    # "Useful" and "useless".
    return first.replace("ful", "less") == second or second.replace("ful", "less") == first


# --- What may follow a word so that its opposite fits too: *good at chess*, but not *good enough* ---

TIMES = wordset(
    "now today here there anyway then tonight tomorrow yesterday right this that week year month morning evening time "
    "at the moment these days lately recently"
)
PREPOSITIONS = wordset("in on at for with about from during inside outside near to")
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
IDIOMATIC_INFINITIVES = wordset("say go see hear know meet assume bet be")
"""Infinitives that form an idiom with an adjective: ``good to go``, ``safe to say``."""
BARRED = wordset(
    "enough than though because since when while until before after unless if so but or and either neither instead "
    "rather just only even all every any some most more less much many as yet anymore ever both not never no "
    "which who what how why whatever whether lol better best bit too lot everything everyone everybody anything anyone "
    "anybody something someone very really few several always like "
    "extent degree degrees"
)
FIXED = frozenset(
    {
        ("good", "for"),
        ("bad", "for"),
        ("happy", "for"),
        ("unhappy", "for"),
        ("good", "with"),
        ("bad", "with"),
        ("absent", "from"),
        ("married", "to"),
        ("true", "to"),
        ("false", "to"),
    }
)
"""Adjectives and words after them that change their meaning: ``feel bad for``."""
OBJECT_FIRST = ("DT", "PRP", "PRP$", "NN", "NNS", "NNP", "NNPS", "VBG")
TRANSITIVE = wordset("like dislike trust distrust mistrust obey disobey accept reject include exclude")
CONTESTS = wordset("game match race election war battle case final argument fight cup title")
"""Objects with which ``win`` and ``lose`` are opposites (*lose the keys* is not the opposite of *win the keys*)."""
FIRST_WORDS = {
    **dict.fromkeys(("agree", "disagree"), ("", "with", "on", "that")),
    **dict.fromkeys(("approve", "disapprove"), ("of",)),
    **dict.fromkeys(("succeed", "fail"), ("",)),
}
"""The words that may follow a verb; an empty one if nothing may."""
LONGEST = 8
"""The maximum number of words after the replaced word."""


def fits_adjective(rest: Words, adjective: str) -> bool:
    """Return whether the opposite of an adjective certainly fits before the words that follow."""
    rest = without_end(rest)
    lows = [word.lowercase for word in rest]
    # "Right" belongs to a time only in "right now".
    if set(lows) <= TIMES and (lows[:1] != ["right"] or lows[1:2] == ["now"]):
        return True
    if _goes_on(rest, lows):
        return False
    if len(rest) > 1 and rest[1].tag == "VB":
        return lows[0] == "to" and lows[1] not in IDIOMATIC_INFINITIVES and adjective in INFINITIVE
    if lows[0] == "of":
        return adjective in OF
    return lows[0] in PREPOSITIONS and adjective not in NO_PREPOSITION and (adjective, lows[0]) not in FIXED


def fits_verb(rest: Words, verb: str) -> bool:
    """Return whether the opposite of a verb certainly fits before the words that follow."""
    rest = without_end(rest)
    lows = [word.lowercase for word in rest]
    first = lows[0] if lows else ""
    if verb in FIRST_WORDS:
        return first in FIRST_WORDS[verb] and not _goes_on(rest, lows)
    if _goes_on(rest, lows):
        return False
    if verb in ("win", "lose"):
        return not rest or (len(rest) < 3 and lows[-1] in CONTESTS)
    return verb in TRANSITIVE and bool(rest) and rest[0].tag in OBJECT_FIRST


def _goes_on(rest: Words, lows: Sequence[str]) -> bool:
    """Return whether another clause, a comparison or a quantifier follows."""
    return len(rest) > LONGEST or not BARRED.isdisjoint(lows) or any(word.tag in (",", ":", "CC") for word in rest)


def without_end(rest: Words) -> Words:
    """Return words without the punctuation at their end, and without a conjunction before it."""
    while rest and rest[-1].tag in ("CC", ",", ":", "."):
        rest = rest[:-1]
    return rest
