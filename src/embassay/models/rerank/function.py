"""A function of your own: a question and a list of texts to a score for each text."""

from __future__ import annotations

import secrets
from functools import partial

from embassay.core.types import Runtime, content_hash
from embassay.models.base import spec_of
from embassay.models.objects.user_modules import function_of
from embassay.models.rerank.pairs import PairScorer, one_by_one


def of_function(target: str, runtime: Runtime, *, version: str = "") -> PairScorer:
    """Import the function.

    Parameters
    ----------
    target
        ``module:callable``; the callable takes a question and a list of str, and returns a number for each.
    version
        Stands for the content in the fingerprint; without it, scores are not kept for other runs.

    Raises
    ------
    SpecError
        If there is no such module.
    UnknownNameError
        If the module has no such callable.
    """
    function, content = function_of(target, version)
    return PairScorer(
        name=target.rpartition(":")[2],
        spec=spec_of(f"rerank:python:{target}", {"version": version}),
        fingerprint=content_hash(["rerank python", target, content or secrets.token_hex(16)]),
        cached=bool(version),
        each=partial(one_by_one, function),
    )
