"""Models of mteb's registry: names, prompts of roles, what is refused."""

from importlib.util import find_spec

import numpy as np
import pytest

from embassay.errors import EncoderError, SpecError, UnknownNameError
from embassay.resolve import load_encoder
from embassay.types import Runtime

pytestmark = pytest.mark.skipif(find_spec("mteb") is None, reason="the mteb extra is not installed")
RANDOM = "mteb:mteb/baseline-random-encoder"
"""In the registry, without a file: each text's vector is drawn from its content."""


def test_a_model_gives_what_mteb_gives():
    import mteb

    texts = ["The shop is open.", "It rains.", "The shop is open."]
    encoder = load_encoder(f"{RANDOM},batch=2")
    found = encoder.encode(texts)
    assert found.dtype == np.float32
    assert found.shape[0] == 3
    assert np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])
    assert encoder.fingerprint == load_encoder(RANDOM).fingerprint
    assert encoder.card.revision == mteb.get_model_meta("mteb/baseline-random-encoder").revision


def test_prompts_of_roles_are_the_registrys():
    card = load_encoder("mteb:intfloat/e5-small-v2").card
    assert card.prompts == {"query": "query: ", "document": "passage: "}
    assert "none for plain texts" in card.warnings[0]
    assert len(card.revision) == 40


def test_a_model_is_asked_with_the_prompt_type_of_the_role():
    from embassay.encoders._mteb_model import encode

    class Asked:
        def encode(self, inputs, *, task_metadata, prompt_type, **more):
            kind = prompt_type.value if prompt_type else None
            self.seen = (task_metadata.type, kind, [text for batch in inputs for text in batch["text"]])
            return np.zeros((3, 2))

    model = Asked()
    for role, kind in {
        "text": ("STS", None),
        "query": ("Retrieval", "query"),
        "document": ("Retrieval", "document"),
    }.items():
        encode(model, ["a", "b", "c"], role, 2)
        assert model.seen == (*kind, ["a", "b", "c"])


def test_the_nearest_name_is_said():
    with pytest.raises(UnknownNameError, match="did you mean 'intfloat/e5-small-v2'"):
        load_encoder("mteb:intfloat/e5-smal-v2")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("mteb:mteb/baseline-random-cross-encoder", "cross-encoder; it gives no single vector"),
        ("mteb:nomic-ai/nomic-embed-text-v1", "add --trust-remote-code LABEL"),
        (f"{RANDOM},batch=0", "option 'batch': must be 1 or more"),
    ],
)
def test_what_cannot_be_run_is_refused(spec, said):
    with pytest.raises(SpecError, match=said):
        load_encoder(spec)


def test_its_own_code_may_be_trusted():
    assert load_encoder("mteb:nomic-ai/nomic-embed-text-v1", Runtime(trust_remote_code=True)).card.prompts


def test_a_model_that_is_not_here_is_the_encoders_failure():
    with pytest.raises(EncoderError, match="cannot be loaded"):
        load_encoder("mteb:intfloat/e5-small-v2").encode(["a"])
