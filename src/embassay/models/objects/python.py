"""A function of your own: ``python:module:callable``, a list of texts to an (n, d) array.

The module may also be in the current folder. The fingerprint is made from the module's source file, and from the
callable's if that is another file; a file that was changed after its import is run again. If the vectors depend on
more than that (weights that it loads, helpers that it imports), set ``version=``. Without a source file and a version,
vectors are not cached.
"""

from __future__ import annotations

import secrets
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import EncoderError, reason_of
from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import Similarity, VectorMatrix
from embassay.models.base import BaseEncoder, spec_of
from embassay.models.objects.matrices import real_matrix
from embassay.models.objects.user_modules import function_of

TARGET = "module:callable"


def create(target: str, runtime: Runtime, *, version: str = "", similarity: Similarity = "cosine") -> PythonEncoder:
    """Make the encoder.

    Parameters
    ----------
    target
        ``module:callable``; the callable takes a list of str and returns (n, d) numbers.
    version
        Stands for the content in the fingerprint, instead of the source file's.
    similarity
        Similarity of queries and documents.

    Raises
    ------
    SpecError
        If there is no such module.
    UnknownNameError
        If the module has no such callable.
    """
    del runtime
    function, content = function_of(target, version)
    name = target.rpartition(":")[2]
    if version:
        return PythonEncoder(name, target, function, version, version, similarity)
    is_known = bool(content)
    return PythonEncoder(name, target, function, content or secrets.token_hex(16), version, similarity, is_known)


@dataclass(frozen=True)
class PythonEncoder(BaseEncoder):
    """An encoder that calls a function with the texts; roles are ignored."""

    name: str
    target: str
    function: Callable[[list[str]], object]
    content: str
    version: str = ""
    similarity: Similarity = "cosine"
    known: bool = True

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        spec = spec_of(f"python:{self.target}", {"version": self.version, "similarity": self.similarity})
        warnings: tuple[str, ...] = ()
        if not self.known:
            warnings = (
                "the callable has no source file to fingerprint, so its vectors are not cached and its "
                "scores are not reused; give it a version that changes whenever its vectors change: "
                f"python:{self.target},version=1",
            )
        return Card(spec, cached=self.known, known=self.known, similarity=self.similarity, warnings=warnings)

    @property
    def fingerprint(self) -> str:
        """A hash of the name, and of the version or the source file; random if there is neither."""
        return content_hash(["python", self.target, self.content])

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return the function's (n, d) vectors as float32, dense or CSR.

        Raises
        ------
        EncoderError
            If the function fails (the message names the line in its module), or if it does not return an array of
            real numbers within float32's range.
        """
        try:
            rows = self.function(list(texts))
        except EncoderError:
            raise
        except (Exception, SystemExit) as error:
            raise EncoderError(f"{reason_of(error)}{self._line_of(error)}") from error
        return real_matrix(rows, texts)

    def _line_of(self, error: BaseException) -> str:
        """Return the innermost line of the user's module in an error's traceback; empty if there is none."""
        files = set()
        for name in (self.target.partition(":")[0], getattr(self.function, "__module__", None)):
            module = sys.modules.get(name or "")
            files.add(getattr(module, "__file__", None))
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename in files:
                return f" ({Path(frame.filename).name}, line {frame.lineno})"
        return ""
