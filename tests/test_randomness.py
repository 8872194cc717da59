"""Random streams named by their purpose."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.randomness import generator


def raw(seed, *purpose, size=3):
    return generator(seed, *purpose).bit_generator.random_raw(size).tolist()


@pytest.mark.parametrize(
    ("seed", "purpose", "expected"),
    [
        (0, ("bootstrap", "x"), [7081815104238163933, 10859586731182475423, 16216788955296816468]),
        (7, (), [9042681046322623634, 14912783094972033255]),
        (0, ("bootstrap", "é"), [3530736331944384445, 14608572762560991697]),
        (2**40, ("bootstrap", "x"), [16799581569264869489, 5978751479512400235]),
    ],
)
def test_golden_streams(seed, purpose, expected):
    # Taken from this package with numpy 2.4.6; raw PCG64 output is the same in all numpy versions (NEP 19).
    assert raw(seed, *purpose, size=len(expected)) == expected


def test_a_stream_is_pcg64_of_the_seed_and_four_words_of_the_hash():
    digest = hashlib.blake2b(b'["bootstrap", "x"]', digest_size=16).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]
    expected = np.random.PCG64(np.random.SeedSequence([5, *words])).random_raw(3).tolist()
    assert raw(5, "bootstrap", "x") == expected


@given(st.integers(0, 2**70), st.lists(st.text(st.characters(codec="utf-8"))))
def test_the_same_seed_and_purpose_give_the_same_stream(seed, purpose):
    assert raw(seed, *purpose) == raw(seed, *purpose)


def test_streams_do_not_depend_on_what_was_drawn_before():
    expected = raw(0, "b")
    generator(0, "a").random(1000)
    assert raw(0, "b") == expected


def test_streams_of_neighbouring_seeds_are_unrelated():
    streams = np.stack([generator(seed, "x").standard_normal(4000) for seed in range(20)])
    related = np.corrcoef(streams) - np.eye(20)
    assert np.abs(related).max() < 5 / np.sqrt(4000)


def test_the_global_state_of_numpy_is_left_alone():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    generator(0, "x").random(10)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
