"""What a result says, as it is read: the answers by diagnostic and corpus, findings of several encoders together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from embassay.core.formatting import names, number
from embassay.core.layout import Format, Layout
from embassay.core.result import Answer, Finding, Result, Verdict, anchor
from embassay.reports.findings import templates
from embassay.reports.findings.costs import Latency
from embassay.reports.findings.speed import MeasuredTimes
from embassay.reports.findings.support import costs_beside, rests_on, use_of

FIRST = tuple(template.question for template in (templates.USE, templates.HIGHEST_VALUE, templates.OR, templates.NOT))
LAST = tuple(template.question for template in (templates.MISSES, templates.DATA, templates.ABOUT_OTHERS))
"""Questions that stand before and after those of the diagnostic itself."""
SEVERAL = templates.OR.question
"""The question that has an answer for each encoder; those on steps have, too."""
ALSO = 4
"""Further encoders that are named with a finding at most."""
MOST_ACTIONS = 3

Said = TypeVar("Said", bound=Finding)


@dataclass(frozen=True)
class AnswerSection:
    """What is answered of one diagnostic on one corpus.

    Attributes
    ----------
    title
        With what it rests on: ``pip: 60 questions about 37 of 108 pages``.
    answers
        In the order in which they are read.
    costs
        What is said of time and price with the answers, one text each; empty where nothing is known.
    """

    verdict: Verdict
    title: str
    answers: tuple[Answer, ...]
    costs: tuple[str, ...]

    @property
    def link(self) -> str:
        """The section of the page that has the evidence."""
        return f"#{anchor(self.verdict.diagnostic, self.verdict.corpus)}"

    def texts(self) -> Iterator[tuple[Answer, str]]:
        """Yield each answer with its text."""
        for answer, costs in zip(self.answers, self.costs, strict=True):
            parts = [answer.sentence, answer.consequence, costs]
            # A question that ends with a question mark is first answered in a few words, which are the title.
            title = own_title(answer)
            if answer.question.endswith("?") and answer.standing != "counted" and title:
                parts.insert(0, f"{title}.")
            yield answer, " ".join(filter(None, parts))


def answer_sections(
    result: Result,
    layouts: Mapping[str, Layout],
    times: Mapping[str, MeasuredTimes],
    latency: Latency,
) -> Iterator[AnswerSection]:
    """Yield the sections.

    Of several answers to one question that of the encoder to use is taken, or the first.

    Parameters
    ----------
    times
        For the same texts, by encoder, where they were measured.
    latency
        Of one question, by encoder and corpus.
    """
    with_title = {verdict.corpus for verdict in result.verdicts if _sections_of(result, verdict.corpus) > 1}
    for verdict in result.verdicts:
        answers = [
            one for one in result.answers if (one.diagnostic, one.corpus) == (verdict.diagnostic, verdict.corpus)
        ]
        use = use_of(answers)
        steps = {one.step.capitalize() for one in verdict.differences if one.step}
        chosen: dict[tuple[str, str], Answer] = {}
        for answer in answers:
            has_several = answer.question in steps or answer.question == SEVERAL
            key = (answer.question, answer.encoder if has_several else "")
            # What limits another encoder than that to use need not be known to decide.
            is_of_other = use not in ("", answer.encoder) and bool(answer.encoder) and not has_several
            if is_of_other and answer.severity != "high":
                continue
            if key not in chosen or (answer.encoder == use and not has_several):
                chosen[key] = answer
        ordered = sorted(chosen.values(), key=lambda answer: _place_of(answer.question, steps))
        costs = [costs_beside(result, verdict, answer, use, times, latency) for answer in ordered]
        layout = layouts[verdict.diagnostic]
        title = f"{layout.title} on {verdict.corpus}" if verdict.corpus in with_title else verdict.corpus
        if not result.headline(verdict):
            title = f"{layout.title} on {verdict.corpus}"
        yield AnswerSection(verdict, f"{title}: {rests_on(result, verdict)}", tuple(ordered), tuple(costs))


def _sections_of(result: Result, corpus: str) -> int:
    """Return how many diagnostics a corpus has."""
    return sum(verdict.corpus == corpus for verdict in result.verdicts)


def _place_of(question: str, steps: Collection[str]) -> tuple[int, str]:
    """Return the place of an answer among the others, by its question."""
    if question in FIRST:
        return FIRST.index(question), ""
    if question in steps:
        return len(FIRST), question
    if question in (templates.INDEX, templates.COPIES):
        return len(FIRST) + 1, question
    if question in LAST:
        return len(FIRST) + 3 + LAST.index(question), ""
    return len(FIRST) + 2, ""


def grouped(findings: Sequence[Said]) -> list[list[Said]]:
    """Return the findings with those of several encoders that say the same together, in the order of the first."""
    groups: dict[tuple[str, ...], list[Said]] = {}
    for place, finding in enumerate(findings):
        # A finding about no single encoder stands alone.
        alone = ""
        if not finding.encoder:
            alone = str(place)
        # What one set-up gains is no answer to what another one gains.
        question = finding.question if isinstance(finding, Answer) else ""
        key = (finding.severity, finding.diagnostic, finding.corpus, finding.title, question, alone)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def also(others: Sequence[Finding]) -> str:
    """Name the other encoders of which a finding is true, with their figures; an empty text for none."""
    if not others:
        return ""
    named = [_with_value(finding) for finding in others[:ALSO]]
    if len(others) > ALSO:
        named.append(f"{len(others) - ALSO} more")
    return f"The same is true of {names(named)}."


def _with_value(finding: Finding) -> str:
    if finding.value is None:
        return finding.encoder
    style = cast("Format", finding.format)
    return f"{finding.encoder} ({number(finding.value, style, signed=style == 'points')})"


def group_statement(group: Sequence[Finding], *, with_place: bool = True) -> str:
    """Return the first finding of a group in full, and the other encoders of which it is true with their figures.

    Parameters
    ----------
    with_place
        Whether diagnostic and corpus are named; not needed where the run has only one of each.
    """
    first, others = group[0], group[1:]
    place = ""
    if with_place:
        place = first.corpus
        if first.diagnostic:
            place = f"{first.diagnostic} on {first.corpus}"

    title = own_title(first)
    if title:
        parts = [f"{title} ({place})." if place else f"{title}.", first.sentence]
    else:
        parts = [f"{place}: {first.sentence}" if place else first.sentence]
    return " ".join(filter(None, (*parts, also(others), first.consequence)))


def own_title(finding: Finding) -> str:
    """Return the title of a finding; an empty text if it only repeats the sentence."""
    if finding.title.lower() in finding.sentence.lower():
        return ""
    return finding.title


def actions(result: Result) -> list[str]:
    """Return what to do next, from the most important findings on, each once."""
    return list(dict.fromkeys(finding.action for finding in result.statements if finding.action))[:MOST_ACTIONS]
