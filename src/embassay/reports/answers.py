"""What a result says, as it is read: the answers by diagnostic and corpus, findings of several encoders together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from embassay.core.formatting import names, number
from embassay.core.layout import Format, Layout
from embassay.core.result import Answer, Finding, Result, Verdict, anchor
from embassay.reports.findings.support import rests_on, tested, use_of

OF_EACH = ("instead", "step")
"""Kinds of which each encoder has an answer of its own; of the others that of the encoder to use is read."""
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
        With what it is based on: ``pip: 60 questions about 37 of 108 pages``.
    answers
        In the order in which they are read.
    """

    verdict: Verdict
    title: str
    answers: tuple[Answer, ...]

    @property
    def kind(self) -> str:
        """The kind of the first answer; empty without answers."""
        return self.answers[0].kind if self.answers else ""

    @property
    def link(self) -> str:
        """The section of the page that has the evidence."""
        return f"#{anchor(self.verdict.diagnostic, self.verdict.corpus)}"

    def texts(self) -> Iterator[tuple[Answer, str]]:
        """Yield each answer with its text."""
        for answer in self.answers:
            # Whether an encoder is better than chance is said in a few words first, which are the title.
            title = own_title(answer) if answer.kind == "headline" and answer.standing != "counted" else ""
            yield answer, " ".join(filter(None, (title and f"{title}.", answer.sentence, answer.consequence)))


def answer_sections(result: Result, layouts: Mapping[str, Layout]) -> Iterator[AnswerSection]:
    """Yield the sections, each with the answers that are read, in the order of the result."""
    corpora = [verdict.corpus for verdict in result.verdicts]
    for verdict in result.verdicts:
        answers = [
            one for one in result.answers if (one.diagnostic, one.corpus) == (verdict.diagnostic, verdict.corpus)
        ]
        use = use_of(answers)
        chosen: dict[tuple[str, str, str], Answer] = {}
        for answer in answers:
            # What limits another encoder than that to use need not be known to decide.
            is_of_other = use not in ("", answer.encoder) and bool(answer.encoder) and answer.kind not in OF_EACH
            if is_of_other and answer.severity != "high":
                continue
            key = (answer.kind, answer.question, answer.encoder if answer.kind in OF_EACH else "")
            if key not in chosen or (answer.encoder == use and answer.kind not in OF_EACH):
                chosen[key] = answer
        title = verdict.corpus
        if corpora.count(title) > 1 or not result.headline(verdict):
            title = f"{layouts[verdict.diagnostic].title} on {verdict.corpus}"
        yield AnswerSection(verdict, f"{title}: {rests_on(result, verdict)}", tuple(chosen.values()))


@dataclass(frozen=True)
class FindingGroup:
    """One finding, with the other encoders of which it is true."""

    finding: Finding
    title: str
    tested: str
    others: str
    place: str


def entries(findings: Sequence[Finding], layouts: Mapping[str, Layout]) -> tuple[FindingGroup, ...]:
    """Return findings, those that say the same of several encoders as one."""
    together = []
    for first, *others in grouped(findings):
        place = first.corpus
        if first.diagnostic:
            layout = layouts.get(first.diagnostic)
            place = f"{layout.title if layout else first.diagnostic} on {first.corpus}"
        together.append(FindingGroup(first, own_title(first), tested(first), also(others), place))
    return tuple(together)


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
