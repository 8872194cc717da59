"""Which methods of its base a plug-in has of its own."""

import inspect


def overridden(plug_in, base):
    """Return the methods of a base that the class of a plug-in has of its own, or that are fields of it."""
    names = {name for name in vars(base) if not name.startswith("_")}
    return {name for name in names if inspect.getattr_static(plug_in, name) is not vars(base)[name]}


def common_letters(query, texts):
    """Return how many letters each text has in common with a question: the plainest reranker."""
    return [len(set(query) & set(text)) for text in texts]
