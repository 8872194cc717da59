"""The small mistakes that ``tests/mutants.py`` makes still have their places in the package."""

import mutants


def test_each_named_mistake_stands_in_its_module_once():
    assert len(list(mutants.named())) == len(mutants.NAMED.strip().splitlines())
