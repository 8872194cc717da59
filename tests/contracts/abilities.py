"""The optional protocols of a kind of plug-in, and which of them a plug-in has."""

import inspect


def abilities_in(module):
    """Return by name the members of each protocol that a module defines."""
    abilities = {}
    for name, value in vars(module).items():
        is_protocol = inspect.isclass(value) and getattr(value, "_is_protocol", False)
        if is_protocol and value.__module__ == module.__name__:
            abilities[name] = [member for member in vars(value) if not member.startswith("_")]
    return abilities


def overridden(plug_in, base):
    """Return the methods of a base that the class of a plug-in has of its own, or that are fields of it."""
    names = {name for name in vars(base) if not name.startswith("_")}
    return {name for name in names if inspect.getattr_static(plug_in, name) is not vars(base)[name]}


def abilities_of(plug_in, module):
    """Return the names of the protocols of which a plug-in has all members; none is read, which could load a model."""
    absent = object()
    found = set()
    for name, members in abilities_in(module).items():
        if all(inspect.getattr_static(plug_in, member, absent) is not absent for member in members):
            found.add(name)
    return found


def common_letters(query, texts):
    """Return how many letters each text has in common with a question: the plainest reranker."""
    return [len(set(query) & set(text)) for text in texts]
