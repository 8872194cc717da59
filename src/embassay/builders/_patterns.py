"""The patterns of sentences that templates turn into questions, and the words that go into these.

Sentences have no marks of lists, emphasis or links any more, but for those of ``EFFECT``.
"""

from __future__ import annotations

import re

# A pattern's groups: what is asked about (subject), the words that answer (answer), and what else the question needs.
MARKED = re.compile(r"^(?:[-*+>]\s+|\d+[.)]\s+)+")
MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
LINK = re.compile(r"!?\[([^\]]+)\]\([^)\s]*\)")
NOTE = re.compile(r"\[\d+\]")
UNFIT = re.compile(r"[|→?!“”\"=<>{}\[\]]|\s[-*]\s|https?:")
MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
DATE = rf"(?P<answer>(?:in|on) (?:(?:\d{{1,2}} )?{MONTH},? (?:\d{{1,2}}, )?)?(?:1\d|20)\d\d)(?![\w–-])"
DONE = (
    "founded|established|built|opened|launched|invented|discovered|introduced|completed|created|published|released|born|"
    "signed|adopted|abolished|destroyed|dissolved|incorporated|ratified|awarded|formed|constructed|demolished"
)
MAKERS = {
    **{
        done: done
        for done in "founded established invented discovered designed built developed created composed".split()
    },
    "written": "wrote",
    "directed": "directed",
}
WORD = r"[^\s,;:()]+"
START = rf"^(?P<subject>(?:{WORD} ){{1,7}}?(?:\([^()]*\) |(?<= ))|{WORD}(?: {WORD}){{0,5}}, also [^,]+, )"
NAME = r"(?:the )?[A-Z][\w’'.-]*(?: (?:(?:of|and|de|van|von) )?(?:the )?[A-Z][\w’'.-]*)*"
NUMBER = r"\d[\d,.]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
DEFINES = re.compile(START + r"(?P<verb>is|are|was|were) (?P<answer>(?:an?|the|one of the|any) (?P<what>.{12,}))\.$")
EMPTY = re.compile(
    r"(?:(?!that\b)[\w-]+ ){0,2}(?:lot|bit|part|result|same|case|only|most|more|first|last|key|reason|subject|matter|"
    r"member|product|cause|consequence|way|problem|number|source|use|example|home|site|target|winner|victim|side|issue|factor|"
    r"place|one|time|question|effect|leader|cent|characteristic|steps?|feature|aspect)\b"
)
"""How what defines nothing begins."""
KINDS = re.compile(
    START + r"(?P<verb>are|were) (?P<answer>(?:[a-z-]+ ){0,3}[a-z]{3,}[^su\W]s "
    r"(?:that|which|used|found|made|consisting|composed|designed|produced) .{8,})\.$"
)
POINTS = re.compile(
    r"\b(?:this|these|those|such|former|latter|above|another)\b|\b(?:of|in|for|to|from|than|as|on|at) that\b"
)
SUPERLATIVES = re.compile(r"(?:[\w-]+ ){0,2}(?:(?!\binter|\brest|\bwest)\w{2,}est|most|only|first|last)\b")
MEANS = re.compile(START + r"(?P<verb>refers? to|is defined as|means) (?P<answer>[^,].{12,})\.$")
LONG = r"(?P<long>(?:[A-Za-z][\w’'/-]* ){1,7}[A-Za-z][\w’'/-]*)"
ABBREVIATES = (
    re.compile(LONG + r" \((?P<short>[A-Z][A-Za-z]*[A-Z])s?\)"),
    re.compile(r"\b(?P<short>[A-Z]{2,6}) \(" + LONG + r"\)"),
    re.compile(r"\b(?P<short>[A-Z]{2,8}) (?:stands for|is short for) " + LONG),
)
PASSED = (
    re.compile(
        START + rf"(?P<verb>was|were) (?:first |originally |officially )?(?P<done>{DONE})\b[^,;:.()]{{0,40}}? {DATE}"
    ),
    re.compile(rf"^{DATE}, (?P<subject>(?:{WORD} ){{1,7}}?)(?P<verb>was|were) (?P<done>{DONE})\b", re.IGNORECASE),
)
ACTED = re.compile(START + rf"(?P<done>opened|closed|began|ended|died|started) (?:[a-z]+ )?{DATE}")
BARE = {"opened": "open", "closed": "close", "began": "begin", "ended": "end", "died": "die", "started": "start"}
MADE = re.compile(
    START + rf"(?:was|were) (?P<done>{'|'.join(MAKERS)}) by (?P<answer>{NAME})(?= (?:in|and|as|for)|[.,])"
)
MAKES = re.compile(
    rf"^(?P<answer>{NAME}) (?:first )?(?P<done>founded|invented|discovered|designed|wrote|composed|directed) "
    rf"(?P<subject>{NAME}|(?:the|an?) (?:first )?(?:[\w’'-]+ ){{0,4}}[\w’'-]+)(?=[.,]| in (?:1|20)\d)"
)
RUNS = {"owned": "owns", "operated": "operates", "governed": "governs", "headed": "heads", "run": "runs"}
RUN = re.compile(START + rf"is (?P<done>{'|'.join(RUNS)}) by (?P<answer>{NAME})(?= (?:and|which|with|on)\b|[.,])")
SUPERLATIVE = re.compile(
    rf"^(?P<answer>{NAME}) (?P<verb>is|was) (?P<subject>the (?:[\w-]+ ){{0,2}}(?:(?!west|east|inter)\w+est|capital|"
    rf"first|only|most \w+)\b(?: [\w’'.-]+){{1,9}})(?=[.,])"
)
POPULATION = re.compile(
    START + r"(?P<verb>has|had) a (?:total )?population of (?P<answer>(?:about |around )?\d[\d,.]*\d)"
)
THERE = re.compile(
    rf"^There (?P<verb>are|were) (?P<answer>(?:(?:about|around|approximately|over) )?(?:{NUMBER})) "
    rf"(?P<what>(?:[a-z][\w-]* ){{0,2}}(?:[a-z]{{3,}}s|people)) (?P<where>(?:in|on|at) {NAME})(?=[.,])"
)
EFFECT = re.compile(
    r"^(?:(?:The )?(?:option|command|flag|switch|button|key|setting) `(?P<named>[^`]{3,40})`|"
    r"`(?P<subject>-[^`]{2,40})`) "
    r"(?P<answer>(?P<verb>adds|asks|builds|changes|checks|chooses|clears|closes|counts|cuts|deletes|does|draws|gives|"
    r"hides|keeps|leaves|limits|lists|loads|makes|merges|moves|names|opens|prints|reads|removes|renames|resets|restarts|returns|"
    r"runs|saves|says|sends|sets|shows|sorts|starts|stops|takes|tells|tries|turns|updates|writes) [^:;|]{6,})\.$"
)
HAS = re.compile(
    START + r"(?P<verb>has|have|had|contains?|consists? of|comprises?) "
    rf"(?P<answer>(?:(?:about|around|approximately|exactly|over) )?(?:{NUMBER})) "
    r"(?P<what>(?!more|other|further|additional|of)(?:[a-z][\w-]* ){0,2}(?:[a-z]{3,}s|men|women|people|children))"
    r"(?=[.,;:]| (?:in|that|which|and|with|at)\b)"
)
LIES = re.compile(
    START + r"(?P<verb>is|are) (?P<done>located|situated) (?P<answer>(?:in|on|at|near|between|along) [^;:()]{4,})\.$"
)
USED = re.compile(
    START + r"(?P<verb>is|are) (?:commonly |mainly |often |usually |mostly |primarily |typically |widely )?used "
    r"(?P<answer>(?:to|for) [^;:()]{8,})\.$"
)
HOW = re.compile(r"^To (?P<what>[a-z]+ [^,;:.()]{3,70}), (?P<answer>(?:first )?(?P<verb>[a-z]+) .{6,}?)\.?$")
