"""A retriever of your own: ``python:module:callable,kind=retriever``, a question to the ids of the nearest documents.

It may also be an object with ``invoke`` (LangChain) or ``retrieve`` (LlamaIndex). The module may be in the current
folder. Lists are used again inside one run's folder while the source of the module, or ``version=``, is the same.
"""

from __future__ import annotations

from embassay.core.types import Runtime
from embassay.models.base import spec_of
from embassay.models.objects.user_modules import function_of
from embassay.search.retrievers.objects import ObjectRetriever, retriever_of

TARGET = "module:callable"


def create(target: str, runtime: Runtime, *, version: str = "") -> ObjectRetriever:
    """Make the retriever.

    Parameters
    ----------
    target
        ``module:callable``; the callable takes a question (str) and returns a list, the nearest first: ids, or (id,
        score).
    version
        Stands for all that the answers depend on; it must change whenever they do.

    Raises
    ------
    SpecError
        If there is no such module, or it has nothing of that name.
    """
    del runtime
    function, content = function_of(target, version)
    spec = spec_of(f"python:{target}", {"kind": "retriever", "version": version})
    return retriever_of(function, target.rpartition(":")[2], spec, content)
