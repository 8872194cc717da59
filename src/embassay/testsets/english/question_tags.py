"""Question tags: ``isn't it?`` after a clause, and the tag of the contrary clause.

Vahtola et al. (2022, section 3) mended by hand what their procedure left (*You're not serious, aren't you?*). A tag has
the contrary polarity of its clause, so it turns around whenever the clause does.
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
        Its two words in lower case, apostrophes straight.
    marks
        The punctuation after it.
    """

    auxiliary: str
    pronoun: str
    marks: str

    def __str__(self) -> str:
        """Return it as it stands after a clause: ``, isn't it?``."""
        return f", {self.auxiliary} {'I' if self.pronoun == 'i' else self.pronoun}{self.marks}"

    def turned(self) -> Tag | None:
        """Return the tag of the contrary clause; None for ``ain't``, which has none."""
        if self.pronoun == "i" and self.auxiliary in ("am", "aren't"):
            return Tag("aren't" if self.auxiliary == "am" else "am", "i", self.marks)
        other = NEGATIVE.get(self.auxiliary) or POSITIVE.get(self.auxiliary)
        return None if other is None else Tag(other, self.pronoun, self.marks)


def split_tag(text: str) -> tuple[str, Tag | None]:
    """Split a sentence into its clause, which then ends in a full stop, and its question tag.

    A tag such as ``right?``, which does not turn around with its clause, is dropped. A sentence without a tag is
    returned as it is.
    """
    straight = text.replace("’", "'")
    if (found := _TAG.search(straight)) and "," in found.group() and found.start() > 0:
        return f"{text[: found.start()]}.", Tag(found[1].lower(), found[2].lower(), found[3])
    if other := _OTHER.search(straight):
        return f"{text[: other.start()]}.", None
    return text, None


def with_tag(clause: str, tag: Tag | None) -> str:
    """Put a question tag behind a clause that ends in a full stop."""
    return clause if tag is None else clause.rstrip(" .!") + str(tag)
