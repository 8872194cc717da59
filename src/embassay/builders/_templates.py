"""Questions by templates: what a passage defines, counts, dates or explains, turned into a question.

A template fires on a sentence whose subject is named in full (see ``_subjects``); in doubt it does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from embassay.builders import _patterns as patterns
from embassay.builders._headings import VERBS, how_do_i, question_of
from embassay.builders._passages import Passage
from embassay.builders._subjects import Casing, is_person, subject_of
from embassay.corpora.io.passages import sentences


@dataclass(frozen=True)
class Asked:
    """A question about a passage.

    Attributes
    ----------
    answer
        Words of the passage.
    way
        How it was made: ``template: date``, or the generator.
    subject
        What it asks about, in its own words.
    """

    question: str
    answer: str
    way: str
    subject: str = ""


EARLY = 7
"""Words of an answer that must not point to what stands before it."""
FEWEST = 3
"""Letters of an abbreviation, at least: two stand for too much."""
Found = re.Match[str]
Made = Iterator[tuple[str, str, str]]
"""Question, answer and subject."""
Subject = Callable[[str], str]
"""A subject as a question has it; empty where it is not named in full."""


def by_templates(passage: Passage, casing: Casing) -> Iterator[Asked]:
    """Yield the questions that templates make of a passage."""
    if passage.heading and passage.alone and passage.long and (question := question_of(passage.heading)):
        yield Asked(question, "", "template: heading", passage.heading)
    spelt = False
    for _, raw in sentences(passage.body):
        sentence = plain(raw)
        marked = patterns.MARKED.sub("", raw).strip()
        for question, answer, subject in _effect(marked, str):
            yield Asked(question, answer, "template: effect", subject)
        for kind, template in _TEMPLATES.items():
            for question, answer, subject in template(sentence, lambda s: subject_of(s, casing, passage.heading)):
                if kind != "abbreviation" or not spelt:
                    yield Asked(question, answer, f"template: {kind}", subject)
                spelt = spelt or kind == "abbreviation"


def plain(sentence: str) -> str:
    """Return a sentence without the marks of a list, of emphasis, links and notes."""
    bare = patterns.LINK.sub(r"\1", patterns.MARKED.sub("", sentence))
    return patterns.MARKUP.sub("", patterns.NOTE.sub("", bare)).strip()


def _definition(sentence: str, subject_of: Subject) -> Made:
    found = _match(patterns.DEFINES, sentence)
    what = found["what"] if found else ""
    among = found is not None and found["answer"].startswith("one of")
    if patterns.EMPTY.match(what) or (patterns.SUPERLATIVES.match(what) and not among):
        return
    found = found or _match(patterns.KINDS, sentence)
    if not found or _points_first(found["answer"]) or not (subject := subject_of(found["subject"])):
        return
    plural = found["verb"] in ("are", "were")
    if plural != _is_plural(subject) or (plural and found["answer"].startswith("the ")):
        return
    person = subject[0].isupper() and not plural and is_person(what)
    yield f"{'Who' if person else 'What'} {found['verb']} {subject}?", found["answer"], subject


def _meaning(sentence: str, subject_of: Subject) -> Made:
    found = _match(patterns.MEANS, sentence)
    if not found or _points_first(found["answer"]):
        return
    term = re.sub(r"(?i)^the (?:term|word|phrase|abbreviation) ", "", found["subject"])
    subject = subject_of(term)
    if not subject or (found["verb"] == "means" and re.match(r"(?:an?|the) ", subject)):
        return
    plural = found["verb"] == "refer to"
    asks = f"What {'do' if plural else 'does'} {subject} mean?"
    yield f"How is {subject} defined?" if found["verb"].startswith("is") else asks, found["answer"], subject


def _abbreviation(sentence: str, subject_of: Subject) -> Made:
    for pattern in patterns.ABBREVIATES if "(" in sentence or " for " in sentence else ():
        for found in pattern.finditer(sentence):
            if len(found["short"]) >= FEWEST and (long := _spelt(found["long"], found["short"])):
                yield f"What does {found['short']} stand for?", long, found["short"]


def _date(sentence: str, subject_of: Subject) -> Made:
    for pattern in patterns.PASSED:
        if (found := _match(pattern, sentence)) and (subject := _named(found, subject_of)):
            yield f"When {found['verb']} {subject} {found['done']}?", found["answer"], subject
    if (found := _match(patterns.ACTED, sentence)) and (subject := _named(found, subject_of)):
        yield f"When did {subject} {patterns.BARE[found['done']]}?", found["answer"], subject


def _maker(sentence: str, subject_of: Subject) -> Made:
    if (found := _match(patterns.MADE, sentence)) and (subject := _named(found, subject_of)):
        yield f"Who {patterns.MAKERS[found['done']]} {subject}?", found["answer"], subject
    if (found := _match(patterns.RUN, sentence)) and (subject := _named(found, subject_of)):
        yield f"Who {patterns.RUNS[found['done']]} {subject}?", found["answer"], subject
    if (found := _match(patterns.MAKES, sentence)) and subject_of(found["answer"]) and not _points(found["subject"]):
        yield f"Who {found['done']} {found['subject']}?", found["answer"], found["subject"]


def _superlative(sentence: str, subject_of: Subject) -> Made:
    found = _match(patterns.SUPERLATIVE, sentence)
    if (
        found
        and subject_of(found["answer"])
        and not _points(found["subject"])
        and re.search(r"[A-Z]", found["subject"])
    ):
        who = "Who" if is_person(found["subject"].partition(" ")[2]) else "What"
        yield f"{who} {found['verb']} {found['subject']}?", found["answer"], found["subject"]


def _effect(sentence: str, subject_of: Subject) -> Made:
    if (found := patterns.EFFECT.match(sentence)) and not _points_first(found["answer"]) and "|" not in sentence:
        subject = found["named"] or found["subject"]
        yield f"What does {subject} do?", found["answer"].replace("`", ""), subject


def _number(sentence: str, subject_of: Subject) -> Made:
    found = _match(patterns.HAS, sentence)
    if not found or not (subject := subject_of(found["subject"])):
        return
    verb = re.sub(r"^(contain|consist|comprise)s\b", r"\1", re.sub(r"^(?:has|had)$", "have", found["verb"]))
    do = "did" if found["verb"] == "had" else "does" if re.search(r"^has$|s$|s of$", found["verb"]) else "do"
    yield f"How many {found['what']} {do} {subject} {verb}?", found["answer"], subject


def _count(sentence: str, subject_of: Subject) -> Made:
    if (found := _match(patterns.POPULATION, sentence)) and (subject := _named(found, subject_of)):
        yield f"What {'is' if found['verb'] == 'has' else 'was'} the population of {subject}?", found["answer"], subject
    if found := _match(patterns.THERE, sentence):
        asks = f"How many {found['what']} {found['verb']} there {found['where']}?"
        yield asks, found["answer"], f"{found['what']} {found['where']}"


def _place(sentence: str, subject_of: Subject) -> Made:
    if (found := _match(patterns.LIES, sentence)) and (subject := _named(found, subject_of)):
        yield f"Where {found['verb']} {subject} {found['done']}?", found["answer"], subject


def _use(sentence: str, subject_of: Subject) -> Made:
    if (found := _match(patterns.USED, sentence)) and (subject := subject_of(found["subject"])):
        yield f"What {found['verb']} {subject} used for?", found["answer"], subject


def _how_to(sentence: str, subject_of: Subject) -> Made:
    found = patterns.HOW.match(sentence)
    if not found or found["verb"] not in VERBS or re.search(r"[|→{}]|\s[-*]\s", sentence):
        return
    if question := how_do_i(found["what"]):
        yield question, found["answer"], found["what"]


_TEMPLATES: dict[str, Callable[[str, Subject], Made]] = {
    "definition": _definition,
    "meaning": _meaning,
    "abbreviation": _abbreviation,
    "date": _date,
    "maker": _maker,
    "number": _number,
    "count": _count,
    "superlative": _superlative,
    "place": _place,
    "use": _use,
    "how-to": _how_to,
}


def _match(pattern: re.Pattern[str], sentence: str) -> Found | None:
    return pattern.match(sentence) if _is_fit(sentence) else None


@lru_cache(maxsize=1)
def _is_fit(sentence: str) -> bool:
    """Say whether a sentence is plain prose; asked by each template in turn."""
    return not patterns.UNFIT.search(sentence)


def _points(phrase: str) -> bool:
    """Say whether a phrase points to something else in its text."""
    low = phrase.lower()
    return bool(
        patterns.POINTS.search(low) or re.search(r"\b(?:its?|his|her|their|he|she|they|who|which|that|there)\b", low)
    )


def _points_first(answer: str) -> bool:
    """Say whether an answer points to something else in its text before it has said much."""
    return bool(patterns.POINTS.search(" ".join(answer.split()[:EARLY])))


def _is_plural(subject: str) -> bool:
    """Say whether a subject looks like a plural: "people", or an s after what is no s or u or i."""
    head = re.split(r" (?:of|and|in|for) ", subject)[0]
    return bool(re.search(r"(?:[^sui]s|people|men|children|data|bacteria)$", head)) and not subject.startswith(
        ("a ", "an ")
    )


def _named(found: Found, subject_of: Subject) -> str:
    """Return a subject that is a proper name: what happened once happened to one thing."""
    subject = subject_of(found["subject"])
    return subject if re.match(r"(?:the )?[A-Z0-9]", subject) else ""


def _spelt(words: str, short: str) -> str:
    """Return the last words whose initials, small words left out, are an abbreviation; empty where they are not."""
    parts = words.split()
    for start in range(len(parts) - 1):
        pieces = [piece for part in parts[start:] for piece in re.split(r"[-/]", part) if piece]
        small = {"of", "and", "the", "for", "in", "on", "to", "de", "a"}
        for left_out in (set[str](), small):
            initials = "".join(piece[0] for piece in pieces if piece not in left_out)
            if initials.upper() == short.upper() and parts[start] not in small:
                return re.sub(r"['’]s?$", "", " ".join(parts[start:]))
    return ""
