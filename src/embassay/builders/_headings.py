"""Questions from headings, and from sentences that say how to do something: what a reader would type."""

from __future__ import annotations

import re

GERUNDS = {
    **{
        f"{verb}ing": verb
        for verb in (
            "add adjust assign attach avoid back block book boot build buy calibrate call cancel chain check "
            "clean clear connect convert cook copy count deploy defrost detect disconnect download draft drain "
            "draw dry edit email encrypt enter export extend filter find fix format grant group handle help "
            "import inspect install join label learn link list load lock log look mount open order paint pair pay "
            "plant post print protect read record reject reload rename repair report request reset restart "
            "restock restrict return review search sell send sign solder sort start switch test track transfer "
            "turn unblock uninstall unlock unpack upload view wash watch water work"
        ).split()
    },
    **{
        f"{stem}ing": f"{stem}e"
        for stem in (
            "activat chang chos clos combin compar compil complet configur creat delet disabl enabl exchang "
            "generat handl initializ integrat mak manag measur merg migrat mov operat pric prun rais rat remov "
            "replac resiz resolv restor retriev rotat sav schedul seal serv shar stor tak tun typ unsubscrib "
            "updat upgrad us validat writ"
        ).split()
    },
    **{
        f"{verb}{verb[-1]}ing": verb
        for verb in "cut fit get plan plug put reset run set ship shut stop swap submit".split()
    },
    "choosing": "choose",
    "setting up": "set up",
    "backing up": "back up",
    "tying": "tie",
}
"""Gerunds that open a heading, and their verbs."""
VERBS = frozenset(GERUNDS.values()) | frozenset(
    "apply ask boil bring click consult contact dial do drag follow give go hold insert keep leave let lift lower "
    "name pass pick place point pour press pull push refer remember rinse say scroll see select show slide "
    "specify tap tell tick tighten try type unplug unscrew use visit wait wipe".split()
)
"""Verbs that a sentence tells its reader to do something with."""
_POINTS = re.compile(
    r"\b(?:it|its|this|that|these|those|them|they|he|she|his|her|so|one|above|below|same|such)\b", re.I
)
_ASKS = re.compile(r"(?i)(?:how|what|when|where|which|who|why|can|do|does|is|are|should|will)\b")
FEWEST = 3
"""Words of a heading that asks, at least."""


def question_of(heading: str) -> str:
    """Return the question that a heading asks, or that it would answer; empty where there is none.

    A heading that is a question is taken as it is; "How to reset the router" and "Resetting the router" become "How
    do I reset the router?". What else a heading names is no question of anybody's.
    """
    plain = re.sub(r"[*_`]", "", heading).strip()
    plain = re.sub(r"^(?:\d+[.)]?)+\s+", "", plain)
    if len(plain.split()) < FEWEST or _POINTS.search(plain):
        return ""
    if plain.endswith("?"):
        return plain if _ASKS.match(plain) else ""
    if found := re.match(r"(?i)how to ((?:\w|-)+ .+)", plain):
        return how_do_i(found.group(1).rstrip(".:"))
    words = plain.split()
    for size in (2, 1):
        if verb := GERUNDS.get(" ".join(words[:size]).lower()):
            return how_do_i(" ".join([verb, *words[size:]]).rstrip(".:"))
    return ""


def how_do_i(doing: str) -> str:
    """Return "How do I …?" for what begins with a bare verb; empty where it points to something else."""
    if _POINTS.search(doing) or len(doing.split()) < 2:
        return ""
    own = {"your": "my", "yourself": "myself", "you": "I"}
    said = re.sub(r"\b(your|yourself|you)\b", lambda found: own[found.group()], doing)
    return f"How do I {said}?"
