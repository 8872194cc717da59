"""Question tags such as ``isn't it?`` after a clause.

A tag has the opposite polarity of its clause, so it must be reversed when the clause is. Vahtola et al. (2022, section
3) corrected such sentences by hand (*You're not serious, aren't you?*).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.testsets.english.negation import CONTRACTED

NEGATIVE = {
    **{auxiliary: f"{auxiliary}n't" for auxiliary in CONTRACTED},
    "can": "can't",
    "will": "won't",
}
POSITIVE = {negative: auxiliary for auxiliary, negative in NEGATIVE.items()}
_VERBS = "|".join(sorted([*NEGATIVE, *POSITIVE, "am", "ain't"], key=len, reverse=True))
_TAG = re.compile(rf"(?i),?\s+({_VERBS})\s+(i|you|he|she|it|we|they|there|that|this)\s*([?.!]+)\s*$")
_OTHER = re.compile(r"(?i),\s*(right|eh|huh|no|yeah|ok|okay|correct|innit)\s*\?+\s*$")


@dataclass(frozen=True)
class Tag:
    """A question tag.

    Attributes
    ----------
    auxiliary, pronoun
        Its two words in lower case, with straight apostrophes.
    marks
        The punctuation after it.
    """

    auxiliary: str
    pronoun: str
    marks: str

    def __str__(self) -> str:
        """Return the tag as it is written after a clause: ``, isn't it?``."""
        pronoun = "I" if self.pronoun == "i" else self.pronoun
        return f", {self.auxiliary} {pronoun}{self.marks}"

    def opposite(self) -> Tag | None:
        """Return the tag with the opposite polarity; None for ``ain't``, which has no opposite."""
        # "Am I" is special: its negative is "aren't I".
        if self.pronoun == "i" and self.auxiliary == "am":
            return Tag("aren't", "i", self.marks)
        if self.pronoun == "i" and self.auxiliary == "aren't":
            return Tag("am", "i", self.marks)
        opposite = NEGATIVE.get(self.auxiliary) or POSITIVE.get(self.auxiliary)
        if opposite is None:
            return None
        return Tag(opposite, self.pronoun, self.marks)


def split_tag(text: str) -> tuple[str, Tag | None]:
    """Split a sentence into its clause, which then ends in a full stop, and its question tag.

    A tag such as ``right?``, which has no polarity, is dropped. A sentence without a tag is returned unchanged.
    """
    straight = text.replace("’", "'")
    match = _TAG.search(straight)
    if match and match.start() > 0 and "," in match.group():
        auxiliary, pronoun, marks = match.groups()
        return f"{text[: match.start()]}.", Tag(auxiliary.lower(), pronoun.lower(), marks)
    match = _OTHER.search(straight)
    if match:
        return f"{text[: match.start()]}.", None
    return text, None


def with_tag(clause: str, tag: Tag | None) -> str:
    """Append a question tag to a clause that ends in a full stop; None leaves the clause as it is."""
    if tag is None:
        return clause
    return clause.rstrip(" .!") + str(tag)
