"""Selecting sentences as originals of minimal pairs, as HEROS did (Chiang et al. 2023, section 2.2.1, appendix A.1).

An original has more than 8 and fewer than 25 words, is grammatical, has no profanity, is not a question, and has at
most one ``[NAME]``. Unlike in HEROS, texts of several sentences, markup and quotations are left out, because their
edits cannot be judged without context.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from embassay.testsets.english.installed import text_of
from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.words import NAME, PLACEHOLDER, straight

SHORTEST, LONGEST = 9, 24
"""The minimum and the maximum number of words of an original."""
_PLAIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ0-9 ,;:'’().!$£€%&…\-–—/\[\]]+")
_INNER = re.compile(r"(?<!\b[A-Z])(?<!\bMr|\bMs|\bDr|\bSt|\bvs)(?<!\bMrs|\betc)[.!…]+(?:\s+(?=\S)|(?=[A-Za-z(]))")
"""A full stop or similar inside a text, after which another sentence may start."""
_WEBBY = re.compile(
    r"(?i)https?:|www\.|\b[ru]/|\bedit\b:|^tl;?dr|:\)|:\(|;\)|\(:|:d\b|:p\b|/s\b|[:;]-|&[a-z]+;|&#|\w\("
)
_FRAGMENT = re.compile(
    r"(?i)i mean\b|you know,|believe it|(?:and |but |or |so |yeah,? |well,? |honestly,? |just )*"
    r"(?:which|like|than|as|whose|because|assuming|think|thinks|thought|hope|hoping|hopefully|guess|thank|thanks|glad|"
    r"happy|sad|sorry|love|loved|loves|hate|hated|agree|agreed|disagree|feel|feels|felt|wish|doubt|bet|looks|sounds|"
    r"seems|makes|made|means|figured|imagine|not|more|most|can't|couldn't|wasn't|isn't|doesn't|don't (?:think|know|"
    r"understand|get|see|like|remember|agree|care|have|want|even|believe)|haven't|won't|didn't|put|given|based|compared)\b"
)
"""Beginnings of texts that are not a clause, or a clause without its subject."""
PLAIN = wordset(
    "arian aryan breasts cowgirl cowgirls dong dopey drunk dummy enlargement erect facial fanny fat fingering "
    "flange foobar ganja gay gays glans god gonad gonads hebe hemp heroin hitler hiv herpes hoar hoare homey hooch "
    "hookah hump humped hymen inbred jerked junkie junky kill kkk klan knob len leper lesbians loin loins maxi "
    "menses menstruate menstruation meth muff murder naked napalm nappy nazi nazism nude nudes opiate opium oral "
    "orally organ ovary ovum ovums pasty pawn pcp penetrate penetration peyote pms pot potty prude racy rectum "
    "reefer reich revue rum rump sandbar scantily screw seaman seamen seduce semen sex sexual slave slope sniper "
    "snatch snuff sperm steamy stoned strip stroke stupid tampon tawdry teat testes testis thrust thug tinkle toke "
    "tramp transsexual trashy ugly undies unwed urinal urine uterus uzi valium viagra virgin vixen vodka vomit "
    "voyeur vulgar wad wedgie weed weirdo wench whiz womb woody xx"
)
"""Words of the package's list that are no profanity in their usual sense: medicine, drugs, people, things."""
_LOUD = re.compile(r"[A-Z]{5,}|(\w)\1{3,}|\.\.|…|!!|--")


def unfit(text: str) -> str:
    """Return why a text cannot be an original, apart from its grammar; empty if it can.

    The reason is the first one of: length, placeholders, question, markup, several sentences, fragment, emphasis,
    profanity.
    """
    words, placeholders = text.split(), PLACEHOLDER.findall(text)
    if len(words) < SHORTEST:
        return f"fewer than {SHORTEST} words"
    if len(words) > LONGEST:
        return f"more than {LONGEST} words"
    if any(name != "[NAME]" for name in placeholders):
        return "a placeholder other than [NAME]"
    if len(placeholders) > 1:
        return "more than one [NAME]"
    if "?" in text:
        return "a question"
    if not _PLAIN.fullmatch(text) or _WEBBY.search(text):
        return "quotation, markup, emoticon or address"
    if _INNER.search(text):
        return "several sentences"
    if _FRAGMENT.match(straight(text)):
        return "no subject, or a subordinate clause alone"
    if _LOUD.search(text):
        return "dots, capitals or letters in a row"
    return "profanity" if is_profane(text) else ""


def named(text: str) -> str:
    """Return the text with a name in place of ``[NAME]``."""
    return text.replace("[NAME]", NAME)


def is_profane(text: str, plain: frozenset[str] = PLAIN) -> bool:
    """Return whether a text has a word, or two adjacent words, of the list of the better-profanity package.

    Parameters
    ----------
    plain
        The words of the list that do not count.
    """
    words = re.findall(r"[a-z0-9'-]+", text.lower().replace("’", "'"))
    # The list has most nouns in the singular only, and some entries of two words.
    singulars = [word.removesuffix("s") for word in words]
    bigrams = [f"{first} {second}" for first, second in pairwise(words)]
    return not _profane().isdisjoint({*words, *singulars, *bigrams} - plain)


@cache
def _profane() -> frozenset[str]:
    """Return the package's list. The file is read directly, because the package's matcher takes 10 ms per sentence."""
    lines = text_of("better_profanity", "profanity_wordlist.txt", "building minimal pairs").split("\n")
    return frozenset(line.strip().lower() for line in lines if line.strip())
