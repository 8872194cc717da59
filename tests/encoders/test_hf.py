"""transformers models: the right token under either padding, alone as in a batch, equal to sentence-transformers."""

import json
import shutil

import numpy as np
import pytest

from embassay.core.errors import EncoderError, ModelNotFoundError, SpecError
from embassay.core.types import Runtime
from embassay.models.neural.modules import transformer_limit
from embassay.run.resolve import load_encoder
from embassay.run.specs import Spec

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")

WORDS = 'the a shop is not open closed old baker sleeps near river it rains and This sentence : means . "'.split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>"]
TEXTS = [
    "the shop is open .",
    "the shop is not open .",
    "it rains",
    "rains",
    "the old baker sleeps near the river and it rains and it rains .",
    " ".join(["baker", "river", "the"] * 9),
    "open",
]
SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}
GROUPED = {**SIZES, "num_key_value_heads": 1}
CONFIGS = {
    "LlamaModel": ("LlamaConfig", GROUPED),
    "MistralForCausalLM": ("MistralConfig", {**GROUPED, "sliding_window": 5}),
    "Qwen2Model": ("Qwen2Config", GROUPED),
    "GemmaModel": ("GemmaConfig", {**GROUPED, "head_dim": 8}),
    "OlmoForCausalLM": ("OlmoConfig", GROUPED),
    "GPT2LMHeadModel": ("GPT2Config", {"n_embd": 16, "n_layer": 3, "n_head": 2}),
}
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 3, "num_heads": 2}
BART = {
    "d_model": 16, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
}  # fmt: skip
ENCODERS = {
    "BertForMaskedLM": ("BertConfig", SIZES),
    "RobertaModel": ("RobertaConfig", {**SIZES, "max_position_embeddings": 66}),
    "T5EncoderModel": ("T5Config", T5),
    "T5ForConditionalGeneration": ("T5Config", T5),
    "MT5ForConditionalGeneration": ("MT5Config", T5),
    "BartModel": ("BartConfig", BART),
}
BOTH = {"LlamaModel", "GPT2LMHeadModel", "BertForMaskedLM"}
"""Tried on both sides each time; of the others a decoder on the right and an encoder on the left are slow tests."""
EASY = {True: "right", False: "left"}
TEMPLATE = 'This sentence : " {text} " means [MASK] .'


def tokenizer(folder, kind, side="right", **changed):
    """Write a tokenizer that knows a few words: with [CLS] and [SEP], or with a start token only, as decoders have."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    own = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    frame = "[CLS] $A [SEP]" if kind == "encoder" else "<s> $A"
    own.post_processor = processors.TemplateProcessing(single=frame, special_tokens=list(zip(SPECIAL, range(7))))  # noqa: B905
    special = {"unk_token": "[UNK]", "bos_token": "<s>", "eos_token": "</s>"}
    special |= {"pad_token": "[PAD]", "mask_token": "[MASK]"} if kind == "encoder" else {}
    options = special | {"padding_side": side} | changed
    transformers.PreTrainedTokenizerFast(tokenizer_object=own, **options).save_pretrained(str(folder))


def write(folder, name, *, side="right", **changed):
    """Write a model of random weights, large enough for each position to matter, and its tokenizer."""
    config, options = {**CONFIGS, **ENCODERS}[name]
    ids = {"vocab_size": len(SPECIAL) + len(WORDS), "pad_token_id": 0, "bos_token_id": 5, "eos_token_id": 6}
    made = getattr(transformers, config)(**{"max_position_embeddings": 64, **options, **ids})
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = getattr(transformers, name)(made)
        for weight in model.parameters():
            weight.data.normal_(0, 0.3)
    model.save_pretrained(str(folder))
    tokenizer(folder, "decoder" if name in CONFIGS else "encoder", side, **changed)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a model by its class and the side that its tokenizer pads on, written once."""
    place, made = tmp_path_factory.mktemp("models"), {}

    def get(name, side="right"):
        if (name, side) not in made:
            made[name, side] = write(place / f"{name}-{side}", name, side=side)
        return made[name, side]

    return get


def states(path, texts, **asked):
    """Return the (length, d) states and the tokens of each text, one text at a time, by the library alone."""
    config = transformers.AutoConfig.from_pretrained(str(path))
    half = config.is_encoder_decoder or "EncoderModel" in config.architectures[0]
    if half and config.model_type != "bart":
        library = transformers.T5EncoderModel if config.model_type == "t5" else transformers.MT5EncoderModel
    else:
        library = transformers.AutoModel
    model = library.from_pretrained(str(path)).eval()
    model = model.encoder if config.model_type == "bart" else model
    cut = transformers.AutoTokenizer.from_pretrained(str(path))
    found = []
    with torch.inference_mode():
        for text in texts:
            ids = cut(text)["input_ids"]
            out = model(input_ids=torch.tensor([ids]), output_hidden_states=True, **asked)
            found.append(([s[0].numpy() for s in out.hidden_states], out.last_hidden_state[0].numpy(), ids))
    return found


POOL = {
    "mean": lambda s: s.mean(axis=0),
    "cls": lambda s: s[0],
    "max": lambda s: s.max(axis=0),
    "last": lambda s: s[-1],
}


def near(ours, theirs):
    return np.abs(ours - np.array(theirs)).max() <= 1e-6 * np.abs(theirs).max()


@pytest.mark.parametrize(
    ("name", "side"),
    [
        pytest.param(name, side, marks=[pytest.mark.slow] * (name not in BOTH and side == EASY[name in CONFIGS]))
        for name in (*CONFIGS, *ENCODERS)
        for side in ("left", "right")
    ],
)
def test_each_pooling_takes_the_right_tokens_under_either_padding(folder, name, side):
    path = folder(name, side)
    naive = states(path, TEXTS)
    for pooling, pooled in POOL.items():
        encoder = load_encoder(f"hf:{path},pooling={pooling}", Runtime(backend="torch"))
        together = encoder.encode(TEXTS)
        assert near(together, [pooled(last) for _, last, _ in naive]), pooling
        assert near(np.concatenate([encoder.encode([text]) for text in TEXTS]), together), pooling


@pytest.mark.parametrize("name", ["LlamaModel", "BertForMaskedLM", "T5EncoderModel"])
def test_layers_are_counted_from_the_embeddings_and_from_the_end(folder, name):
    path = folder(name)
    naive = states(path, TEXTS)
    for layer in (0, 1, 3, -1, -2, -4):
        found = load_encoder(f"hf:{path},pooling=mean,layer={layer}").encode(TEXTS)
        assert near(found, [hidden[layer].mean(axis=0) for hidden, _, _ in naive]), layer
    with pytest.raises(EncoderError, match="layer=4: must be from -4 to 3; 0 is the embeddings"):
        load_encoder(f"hf:{path},layer=4").encode(TEXTS)


def test_the_mask_token_of_the_template_is_read(folder):
    path = folder("BertForMaskedLM")
    naive = states(path, [TEMPLATE.replace("{text}", text) for text in TEXTS])
    spec = {"pooling": "mask", "template": TEMPLATE}
    found = load_encoder(Spec(f"hf:{path}", options=spec)).encode(TEXTS)
    assert near(found, [last[ids.index(4)] for _, last, ids in naive])


@pytest.mark.parametrize(("template", "place"), [(TEMPLATE, -1), ("[MASK] means {text}", 0)])
def test_a_mask_token_in_the_text_is_not_the_template_s(folder, template, place):
    path, text = folder("BertForMaskedLM"), "the [MASK] is open"
    _, last, ids = states(path, [template.replace("{text}", text)])[0]
    found = load_encoder(Spec(f"hf:{path}", options={"pooling": "mask", "template": template})).encode([text])
    assert near(found, [last[[n for n, token in enumerate(ids) if token == 4][place]]])


def test_a_text_that_is_too_long_for_the_template_is_refused(folder):
    options = {"pooling": "mask", "template": TEMPLATE, "max_length": 14}
    encoder = load_encoder(Spec(f"hf:{folder('BertForMaskedLM')}", options=options))
    # [CLS] and [SEP], and eight words of the template leave four words for the text.
    assert encoder.count_tokens(["the " * 40], "text").tolist() == [50]
    assert encoder.encode(["the " * 4]).shape == (1, 16)
    with pytest.raises(EncoderError, match="has 15 tokens with the template, and the limit is 14"):
        encoder.encode(["the", "the " * 5])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"template": "it rains"}, r"must contain \{text\} exactly once, is 'it rains'"),
        ({"max_length": 0}, "must be greater than or equal to 1, is 0"),
        ({"pooling": "median"}, "must be 'mean', 'cls', 'max', 'last', 'mask'"),
    ],
)
def test_options_that_do_not_fit(folder, options, says):
    with pytest.raises(SpecError, match=says):
        load_encoder(Spec(f"hf:{folder('BertForMaskedLM')}", options=options))


def test_the_mask_token_needs_a_template_with_it(folder):
    with pytest.raises(EncoderError, match=r"needs a template with .*\{text\}\" means \[MASK\]"):
        load_encoder(f"hf:{folder('BertForMaskedLM')},pooling=mask").encode(["it rains"])


def test_the_prompt_stands_before_the_text_inside_the_template(folder):
    path = folder("BertForMaskedLM")
    options = {"query_prompt": "the shop ", "template": "it {text} ."}
    asked = load_encoder(Spec(f"hf:{path}", options=options))
    assert near(asked.encode(["rains"], "query"), load_encoder(f"hf:{path}").encode(["it the shop rains ."]))
    assert near(asked.encode(["rains"]), load_encoder(f"hf:{path}").encode(["it rains ."]))
    assert asked.card.prompts == {"query": "the shop "}


# --- what a model is --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CONFIGS, *ENCODERS])
def test_the_pooling_of_decoders_is_the_last_token_and_said(folder, name):
    encoder = load_encoder(f"hf:{folder(name)}")
    asked = load_encoder(f"hf:{folder(name)},pooling=mean").card.warnings
    assert encoder.settings["pooling"] == ("last" if name in CONFIGS else "mean")
    assert any("is used by default" in w for w in encoder.card.warnings)
    assert not any("is used by default" in w for w in asked)


@pytest.mark.parametrize(
    ("config", "says", "asked", "limit"),
    [
        ({"max_position_embeddings": 512}, int(1e30), None, 512),
        ({"max_position_embeddings": 512}, 128, None, 128),
        ({"max_position_embeddings": 512}, 128, 300, 300),
        ({"max_position_embeddings": 512}, 128, 999, 512),
        ({"max_position_embeddings": 514, "model_type": "roberta", "pad_token_id": 1}, int(1e30), None, 512),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta-xl"}, int(1e30), None, 512),
        ({"max_position_embeddings": 514, "model_type": "mpnet", "pad_token_id": 0}, int(1e30), None, 512),
        ({"max_position_embeddings": 514, "model_type": "lilt", "pad_token_id": 0}, int(1e30), None, 513),
        ({"n_positions": 1024}, None, None, 1024),
        ({"n_positions": 512, "model_type": "t5"}, int(1e30), None, None),
        ({"n_positions": 512, "model_type": "t5"}, 512, 700, 700),
        ({}, int(1e30), None, None),
        ({}, int(1e30), 77, 77),
    ],
)
def test_the_length_that_texts_are_cut_at(tmp_path, config, says, asked, limit):
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({} if says is None else {"model_max_length": says}))
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert transformer_limit(tmp_path, tmp_path, asked) == limit


def test_longer_texts_are_cut_and_counted_whole(folder):
    encoder = load_encoder(f"hf:{folder('BertForMaskedLM')}")
    assert encoder.card.max_tokens == 64
    assert encoder.count_tokens(["rains", "the " * 100, ""], "text").tolist() == [3, 102, 2]
    assert near(encoder.encode(["the " * 100]), encoder.encode(["the " * 62]))


def test_a_text_without_any_token_is_encoded_as_the_start_token(folder, tmp_path):
    shutil.copytree(folder("GPT2LMHeadModel"), tmp_path / "bare")
    own = json.loads((tmp_path / "bare" / "tokenizer.json").read_text())
    (tmp_path / "bare" / "tokenizer.json").write_text(json.dumps(own | {"post_processor": None}))
    encoder = load_encoder(f"hf:{tmp_path / 'bare'}")
    assert near(encoder.encode(["", "it rains"])[:1], encoder.encode(["<s>"]))
    assert encoder.count_tokens([""], "text").tolist() == [1]


# --- fingerprint, options, routes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option",
    [
        *("pooling=cls", "layer=1", "layer=0", "template=it {text}", "query_prompt=q: ", "text_prompt=t: "),
        *("max_length=8", "dim=4", "dtype=bfloat16", "normalize=true"),
    ],
)
def test_what_moves_vectors_moves_the_fingerprint(folder, option):
    path = folder("BertForMaskedLM")
    assert load_encoder(f"hf:{path},{option}").fingerprint != load_encoder(f"hf:{path}").fingerprint


def test_half_precision_is_near(folder):
    whole, half = (
        load_encoder(f"hf:{folder('LlamaModel')}{option}").encode(TEXTS) for option in ("", ",dtype=bfloat16")
    )
    assert half.dtype == np.float32
    cosine = (half * whole).sum(axis=1) / np.linalg.norm(half, axis=1) / np.linalg.norm(whole, axis=1)
    assert 1e-9 < (1 - cosine).max() < 0.02


# --- what is refused --------------------------------------------------------------------------------------


@pytest.fixture
def copy(folder, tmp_path):
    """A folder with a small encoder's files, to be changed."""
    return shutil.copytree(folder("BertForMaskedLM"), tmp_path / "model")


@pytest.mark.parametrize(
    ("remove", "says"),
    [
        ("tokenizer*", r"its folder has no tokenizer \(tokenizer.json, vocab.txt …\); .*set tokenizer="),
        ("*.safetensors", "not a model: a model needs config.json or modules.json, and all of its weights"),
        ("config.json", "not a model: a model needs"),
    ],
)
def test_a_folder_that_lacks_something(copy, remove, says):
    for path in copy.glob(remove):
        path.unlink()
    with pytest.raises(ModelNotFoundError, match=says):
        load_encoder(f"hf:{copy}")


def test_a_tokenizer_from_elsewhere(folder, tmp_path):
    path = shutil.copytree(folder("LlamaModel"), tmp_path / "m", ignore=shutil.ignore_patterns("tokenizer*"))
    other = folder("MistralForCausalLM", "left")
    encoder = load_encoder(f"hf:{path},tokenizer={other}")
    assert near(encoder.encode(TEXTS), load_encoder(f"hf:{folder('LlamaModel')}").encode(TEXTS))
    bare = tmp_path / "bare"
    tokenizer(bare, "encoder")
    assert load_encoder(f"hf:{path},tokenizer={bare}").fingerprint != encoder.fingerprint
    with pytest.raises(ModelNotFoundError, match=r"no tokenizer \(tokenizer\.json"):
        load_encoder(f"hf:{path},tokenizer={tmp_path / 'nothing'}")
    with pytest.raises(ModelNotFoundError, match="encoder 'org/nothing': the download failed"):
        load_encoder(f"hf:{path},tokenizer=org/nothing")


def test_nothing_is_printed_when_a_model_is_loaded(folder, capfd):
    path = folder("BertForMaskedLM")
    load_encoder(f"hf:{path}").encode(["it rains " * 400])
    load_encoder(Spec(f"hf:{path}", options={"template": TEMPLATE})).encode(["it rains"])
    assert capfd.readouterr() == ("", "")


CODE = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM

class ElmConfig(LlamaConfig):
    model_type = "elm-of-its-own"

class ElmForCausalLM(LlamaForCausalLM):
    config_class = ElmConfig
"""


def test_code_of_its_own_runs_only_where_it_is_trusted(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    path = shutil.copytree(folder("LlamaModel"), tmp_path / "elm")
    causal = transformers.LlamaForCausalLM(transformers.AutoConfig.from_pretrained(str(path)))
    causal.model = transformers.AutoModel.from_pretrained(str(path))
    causal.save_pretrained(str(path))
    config = json.loads((path / "config.json").read_text())
    maps = {"AutoConfig": "elm.ElmConfig", "AutoModelForCausalLM": "elm.ElmForCausalLM"}
    own = {"model_type": "elm-of-its-own", "architectures": ["ElmForCausalLM"], "auto_map": maps}
    (path / "config.json").write_text(json.dumps(config | own))
    (path / "elm.py").write_text(CODE)
    with pytest.raises(EncoderError, match=r"brings its own code; if you trust it, add --trust-remote-code"):
        load_encoder(f"hf:{path}").encode(TEXTS)
    trusted = load_encoder(f"hf:{path}", Runtime(trust_remote_code=True))
    assert near(trusted.encode(TEXTS), load_encoder(f"hf:{folder('LlamaModel')}").encode(TEXTS))


def test_code_that_is_not_needed_is_not_run_and_said(copy):
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"auto_map": {"AutoModel": "org/other--modeling.Mine"}}))
    warnings = load_encoder(f"hf:{copy}").card.warnings
    assert "the model brings its own code, which is not run without --trust-remote-code" in warnings
    trusted = load_encoder(f"hf:{copy}", Runtime(trust_remote_code=True)).card.warnings
    assert "the model's code is in another repository and is not part of the fingerprint" in trusted


# --- weights and devices -----------------------------------------------------------------------------------


# --- the model's own pooling layer ------------------------------------------------------------------------


def test_the_pooler_is_the_first_token_after_the_models_own_layer(folder):
    path = folder("RobertaModel")
    model = transformers.RobertaModel.from_pretrained(str(path)).eval()
    encoder = load_encoder(f"hf:{path},pooling=pooler")
    first = load_encoder(f"hf:{path},pooling=cls").encode(TEXTS)
    # Devlin et al. (2019): tanh(W h + b) of the first token.
    weight, bias = (value.detach().numpy() for value in model.pooler.dense.parameters())
    assert near(encoder.encode(TEXTS), np.tanh(first @ weight.T + bias))
    assert encoder.fingerprint != load_encoder(f"hf:{path},pooling=cls").fingerprint


def test_a_model_without_the_weights_of_a_pooler_is_refused(folder):
    # The library would fill in random ones.
    for name, says in (("BertForMaskedLM", "weights are missing .*pooler"), ("T5EncoderModel", "no pooling layer")):
        with pytest.raises(EncoderError, match=says):
            load_encoder(f"hf:{folder(name)},pooling=pooler").encode(["it rains"])
    with pytest.raises(SpecError, match="pooling=pooler is computed from the last layer; leave layer out"):
        load_encoder(f"hf:{folder('BertForMaskedLM')},pooling=pooler,layer=1")
