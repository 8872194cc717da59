"""Sentences that findings and verdicts consist of, each declared with what supports it.

A module declares its sentences at its top, beside the code that fills them in; ``docs/findings.md`` lists those that a
procedure decides. A test asserts that no sentence claims more than its procedure can show. Absence is what only a test
of "not worse" can show: a test that finds no difference has not shown that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from embassay.core.result import ANSWER_KINDS, Answer, Finding, Standing

if TYPE_CHECKING:
    from embassay.core.result import Row, Verdict
    from embassay.core.types import Origin


@dataclass(frozen=True)
class Procedure:
    """How it is decided that a sentence is said.

    Attributes
    ----------
    text
        In a few words, with the level.
    claims
        What it can support: that something is shown, or is not; what was counted; what limits the answer.
    excludes_loss
        Whether it can show that something is not so: that a loss of some size is ruled out.
    """

    text: str
    claims: tuple[Standing, ...] = ("shown", "not shown")
    excludes_loss: bool = False


COUNT = Procedure("none", ("counted",))
LIMIT = Procedure("none", ("cannot be said",))
INTERVAL = Procedure("95% interval over units")
TWO_INTERVALS = Procedure("two 95% intervals over units that do not overlap")
EXCHANGE = Procedure("exchange of items that share labels, p corrected within the family, 5%")
NOT_WORSE = Procedure('test of "not worse" at the margin, 5%', excludes_loss=True)
OVERLAP = Procedure(
    "95% interval of the overlap of the ten nearest documents against a floor of 95%, over questions without labels",
    ("shown", "not shown", "counted"),
    excludes_loss=True,
)
SIGN_FLIPS = Procedure("one-sided exact sign flips, p with Holm's correction, 5%")
LOSS_LIMIT = Procedure(
    "upper 95% limit of the loss, one more item counted as lost",
    ("shown", "not shown", "cannot be said"),
    excludes_loss=True,
)
THRESHOLD = Procedure("95% limit of the loss")
AVERAGE_LOSS = Procedure("estimate of the loss on average", ("counted",))
POWER = Procedure("effective number of items, at the correction of the pair's family, power 80%", ("cannot be said",))


_ABOUT = ("diagnostic", "corpus", "metric", "subset", "condition", "value", "low", "high")
"""The fields that a finding has from what it is about."""


@dataclass(frozen=True)
class Template:
    """A sentence with fields in braces.

    Attributes
    ----------
    text
        The sentence, as for ``str.format``.
    when
        When it is said.
    procedure
        How that is decided.
    claim
        What the sentence claims; by default the first that the procedure can support.
    title, severity, consequence, action
        Those of the finding that it makes; the title and the action may have fields, too.
    kind, question
        What it answers, and that in a word or two with fields, which most kinds have already. With one of the two it
        makes an :class:`~embassay.core.result.Answer`.
    """

    text: str
    when: str
    procedure: Procedure
    claim: Standing | None = None
    title: str = ""
    severity: str = "low"
    consequence: str = ""
    action: str = ""
    kind: str = ""
    question: str = ""

    @property
    def claimed(self) -> Standing:
        """What the sentence claims."""
        return self.claim or self.procedure.claims[0]

    def sentence(self, **fields: Any) -> str:
        """Return the sentence with its fields filled in."""
        return self.text.format(**fields)

    def finding(
        self, about: Row | Verdict | Origin | None = None, *, style: str = "percent", severity: str = "", **fields: Any
    ) -> Finding:
        """Return the finding with its fields filled in.

        Parameters
        ----------
        about
            A row, with the figure behind it; a verdict; or the origin of scores. Without it, the field ``corpus`` names
            the corpus if there is one.
        style
            How the figure is written.
        severity
            If it is another one than usual.
        fields
            Those of the texts. ``encoder`` is the encoder that the finding is about, if it is about one.
        """
        title = self.title.format(**fields)
        made: dict[str, Any] = {
            "severity": severity or self.severity,
            "sentence": self.sentence(**fields),
            # str.capitalize would also change the other letters.
            "title": f"{title[:1].upper()}{title[1:]}",
            "corpus": fields.get("corpus", ""),
            "encoder": fields.get("encoder", ""),
            "consequence": self.consequence,
            "action": self.action.format(**fields),
            "format": style,
        }
        # A row has all of them, a verdict no figure of its own, an origin only the first two.
        made |= {name: getattr(about, name) for name in _ABOUT if hasattr(about, name)}
        if self.kind or self.question:
            kind = self.kind or "own"
            question = self.question.format(**fields) or ANSWER_KINDS[kind]
            return Answer(**made, kind=kind, question=question, standing=self.claimed)
        return Finding(**made)
