"""A function of your own: ``python:module:callable``, a list of texts to an (n, d) array.

The module may also be in the current folder. The fingerprint is made from the module's source file; a file that was
changed after its import is run again. If the vectors depend on more than that (weights that it loads, helpers that it
imports), set ``version=``. Without a source file and a version, vectors are not cached.
"""

from __future__ import annotations

import secrets

from embassay.core.types import Card, Runtime
from embassay.core.vectors import Similarity
from embassay.models.base import spec_of
from embassay.models.objects.calls import CallEncoder
from embassay.models.objects.user_modules import function_of

TARGET = "module:callable"
NOT_KEPT = (
    "the callable has no source file to fingerprint, so its vectors are not cached and its scores are not reused; give "
    "it a version that changes whenever its vectors change: "
)


def create(target: str, runtime: Runtime, *, version: str = "", similarity: Similarity = "cosine") -> CallEncoder:
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
    function, content = function_of(target, version)
    spec = spec_of(f"python:{target}", {"version": version, "similarity": similarity})
    known = bool(content)
    warnings = () if known else (f"{NOT_KEPT}python:{target},version=1",)
    card = Card(spec, cached=known, known=known, similarity=similarity, warnings=warnings)
    identity = content or secrets.token_hex(16)
    return CallEncoder(target.rpartition(":")[2], card, lambda: identity, lambda: lambda texts, role: function(texts))
