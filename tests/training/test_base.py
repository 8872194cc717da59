"""The base of a training: its options, and that a model is written as its base is used."""

import json
import shutil

import numpy as np
import pytest

from embassay.core.errors import InputError
from embassay.core.types import Runtime
from embassay.models.neural import st
from embassay.run.specs import known_options
from embassay.training.base_model import TAKEN, find_base, load, write_model

TEXTS = ["pump opens slowly when it does", "lamp"]


def copy_of(base, folder, **config):
    """Copy a base, its configuration changed."""
    shutil.copytree(base, folder)
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **config}))
    return folder


def written(spec, folder, tiny):
    """Write a base as it is, untrained; return what loads the base and what loads the copy."""
    encoder = find_base(spec)
    model = load(encoder, "cpu")
    write_model(encoder, model, folder)
    return encoder, st.create(str(folder), Runtime())


def same(a, b):
    roles = ("query", "document", "text")
    return all(np.abs(a.encode(TEXTS, role) - b.encode(TEXTS, role)).max() < 1e-6 for role in roles)


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        ({"query": "what ", "passage": "the "}, {"query": "what ", "document": "the "}),
        ({"query": "what ", "corpus": "the "}, {"query": "what ", "document": "the "}),
        ({"query": "what ", "document": "", "passage": "the "}, {"query": "what ", "document": "the "}),
        ({"query": "what ", "document": "in ", "passage": "the "}, {"query": "what ", "document": "in "}),
        ({"query": "what "}, {"query": "what "}),
        ({}, {}),
    ],
)
def test_a_model_is_written_with_its_base_s_prompts(base, tmp_path, tiny, prompts, expected):
    before, after = written(str(copy_of(base, tmp_path / "base", prompts=prompts)), tmp_path / "copy", tiny)
    assert before.card.prompts == after.card.prompts == expected
    assert same(before, after)
    own = json.loads((tmp_path / "copy" / "config_sentence_transformers.json").read_text())["prompts"]
    assert own == {"query": expected.get("query", ""), "document": expected.get("document", "")}
    assert after.card.warnings == (
        ("the model has a prompt for queries but none for plain texts; plain texts are encoded without a prompt",)
        if prompts
        else ()
    )


def test_the_library_puts_the_same_prompts_before_texts_of_a_written_model(base, tmp_path, tiny):
    from sentence_transformers import SentenceTransformer

    folder = copy_of(base, tmp_path / "base", prompts={"query": "what ", "passage": "the "})
    _, after = written(str(folder), tmp_path / "copy", tiny)
    library = SentenceTransformer(str(tmp_path / "copy"), device="cpu")
    assert np.abs(library.encode_document(TEXTS) - after.encode(TEXTS, "document")).max() < 1e-6
    assert np.abs(library.encode_query(TEXTS) - after.encode(TEXTS, "query")).max() < 1e-6


def test_options_hold_in_training_and_in_what_is_written(base, tmp_path, tiny):
    options = {"query_prompt": "which ", "document_prompt": "in ", "text_prompt": "and ", "max_length": 5}
    spec = ",".join([base, *(f"{name}={value}" for name, value in options.items()), "similarity=dot"])
    before, after = written(spec, tmp_path / "copy", tiny)
    assert load(before, "cpu").max_seq_length == 5
    for card in (before.card, after.card):
        assert card.prompts == {"query": "which ", "document": "in ", "text": "and "}
        assert (card.max_tokens, card.similarity) == (5, "dot")
    assert same(before, after)


@pytest.mark.parametrize(
    ("options", "config", "expected"),
    [
        ("document_prompt=", {"prompts": {"passage": "the "}}, {}),
        ("query_prompt=", {"prompts": {"query": "what ", "passage": "the "}}, {"document": "the "}),
        ("text_prompt=", {"prompts": {"sts": "in "}, "default_prompt_name": "sts"}, {}),
        (
            "document_prompt=which ",
            {"prompts": {"passage": "the "}, "default_prompt_name": "passage"},
            {"document": "which ", "text": "the "},
        ),
        (
            "query_prompt=which ",
            {"prompts": {"query": "what ", "sts": "in "}, "default_prompt_name": "query"},
            {"query": "which ", "text": "what "},
        ),
    ],
)
def test_an_option_changes_the_prompt_of_its_role_alone(base, tmp_path, tiny, options, config, expected):
    folder = copy_of(base, tmp_path / "base", **config)
    before, after = written(f"{folder},{options}", tmp_path / "copy", tiny)
    assert before.card.prompts == after.card.prompts == expected
    assert same(before, after)


def test_what_a_base_takes_are_options_of_an_encoder():
    assert known_options(st.create) >= {*TAKEN}


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("dim=1", "option 'dim' cannot be used in training; the base takes query_prompt"),
        ("dims=3", "option 'dims' cannot be used in training"),
        ("max_length=0", "must be greater than or equal to 1"),
        ("max_length=short", "option .max_length.: must be"),
        ("similarity=euclidean", "must be .cosine. or .dot."),
    ],
)
def test_an_option_that_does_not_hold_in_training_is_refused(base, option, why):
    with pytest.raises(InputError, match=why):
        find_base(f"{base},{option}")
