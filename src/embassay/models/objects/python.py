"""A function of your own: ``python:module:callable``, a list of texts to an (n, d) array.

The module may also be in the current folder. The fingerprint is made from the module's source file, and from the
callable's if that is another file; a file that changes counts when its module is reloaded. If the vectors depend
on more than that (weights that it loads, helpers that it imports), set ``version=``. Without a source file and a
version, vectors are not cached.
"""

from __future__ import annotations

import secrets
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from embassay.core.errors import EncoderError, reason_of
from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import Similarity, VectorMatrix
from embassay.models.base import BaseEncoder, spec_of
from embassay.models.objects.matrices import real_matrix
from embassay.models.objects.user_modules import function_of

TARGET = "module:callable"
NOT_KEPT = (
    "the callable has no source file to fingerprint, so its vectors are not cached and its scores are not reused; give "
    "it a version that changes whenever its vectors change: "
)


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
    spec = spec_of(f"python:{target}", {"version": version, "similarity": similarity})
    known = bool(content)
    warnings = () if known else (f"{NOT_KEPT}python:{target},version=1",)
    card = Card(spec, cached=known, known=known, similarity=similarity, warnings=warnings)
    fingerprint = content_hash([f"python:{target}", content or secrets.token_hex(16)])
    return PythonEncoder(target.rpartition(":")[2], card, fingerprint, function)


@dataclass(frozen=True, eq=False)
class PythonEncoder(BaseEncoder):
    """An encoder that calls a function with the texts; roles are ignored.

    Attributes
    ----------
    fingerprint
        A hash of the function's name, and of its version or otherwise its sources.
    """

    name: str
    card: Card
    fingerprint: str
    function: Callable[[list[str]], object] = field(repr=False)

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return the function's (n, d) vectors as float32, dense or CSR.

        Raises
        ------
        EncoderError
            If the function fails (the message names the line in its module), or does not return an array of real
            numbers within float32's range.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        try:
            rows = self.function(list(texts))
        except EncoderError:
            raise
        except (Exception, SystemExit) as error:
            raise EncoderError(f"{reason_of(error)}{_line_of(error, self.function)}") from error
        return real_matrix(rows, texts)


def _line_of(error: BaseException, function: object) -> str:
    """Return the innermost line of a function's module in an error's traceback; empty if there is none."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == getattr(module, "__file__", None):
            return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""
