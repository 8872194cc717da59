"""The architectures of the light route: their settings in ``config.json``, and the names and shapes of their tensors.

All are BERT (Devlin et al. 2019) with other names, other first positions, or MPNet's relative position bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from embassay.core.types import JsonObject

Shapes = dict[str, tuple[int, ...]]


class NotSupportedError(Exception):
    """The light route cannot run a model; the message says why."""


@dataclass(frozen=True)
class ModelFamily:
    """How models of one ``model_type`` name their tensors, and where their positions begin.

    Attributes
    ----------
    prefix
        The beginning of all names in files that also have the weights of a task.
    layers, parts
        The names of the layers, and of the parts of a layer.
    has_token_types
        Whether there is a table of token types, of which single texts use the first row.
    after_padding
        Whether positions begin after the id of the padding token, rather than at 0.
    """

    prefix: str
    layers: str
    parts: Mapping[str, str]
    has_token_types: bool = True
    after_padding: bool = False


_BERT_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "first_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "second_norm": "output.LayerNorm",
}
_MPNET_LAYER = {
    **_BERT_LAYER,
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "attended": "attention.attn.o",
    "first_norm": "attention.LayerNorm",
}
_DISTILBERT_LAYER = {
    "query": "attention.q_lin",
    "key": "attention.k_lin",
    "value": "attention.v_lin",
    "attended": "attention.out_lin",
    "first_norm": "sa_layer_norm",
    "up": "ffn.lin1",
    "down": "ffn.lin2",
    "second_norm": "output_layer_norm",
}
_ROBERTA = ModelFamily("roberta.", "encoder.layer", _BERT_LAYER, after_padding=True)
FAMILIES = {
    "bert": ModelFamily("bert.", "encoder.layer", _BERT_LAYER),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "distilbert": ModelFamily("distilbert.", "transformer.layer", _DISTILBERT_LAYER, has_token_types=False),
    "mpnet": ModelFamily("mpnet.", "encoder.layer", _MPNET_LAYER, has_token_types=False, after_padding=True),
}
"""The families by ``model_type``."""
BUCKETS = 32
"""The rows of MPNet's relative position bias; the library uses this number whatever the configuration says."""
DISTILBERT = {
    "dim": "hidden_size",
    "hidden_dim": "intermediate_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "activation": "hidden_act",
}
"""The names of settings in DistilBERT, and in the others."""
WORDS = "embeddings.word_embeddings.weight"
POSITIONS = "embeddings.position_embeddings.weight"
TYPES = "embeddings.token_type_embeddings.weight"
POSITION_BIAS = "encoder.relative_attention_bias.weight"
"""Names of tensors."""
FIXED: JsonObject = {
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "relative_attention_num_buckets": BUCKETS,
    "is_decoder": False,
    "is_encoder_decoder": False,
    "add_cross_attention": False,
    "pruned_heads": {},
}
"""Settings that may have one value only: the graph computes nothing else."""
READ = frozenset(
    """
    hidden_size intermediate_size layer_norm_eps max_position_embeddings model_type num_attention_heads
    num_hidden_layers pad_token_id type_vocab_size vocab_size
    """.split()
)
WITHOUT_EFFECT = frozenset(
    """
    _name_or_path _attn_implementation_autoset architectures attention_dropout attention_probs_dropout_prob bos_token_id
    chunk_size_feed_forward classifier_dropout cls_token_id directionality dropout dtype eos_token_id finetuning_task
    gradient_checkpointing hidden_dropout_prob id2label initializer_range label2id language name num_labels
    output_attentions output_hidden_states output_past pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers
    pooler_size_per_head pooler_type problem_type qa_dropout return_dict sep_token_id seq_classif_dropout
    sinusoidal_pos_embds task_specific_params tie_weights_ tie_word_embeddings tokenizer_class torch_dtype torchscript
    transformers_version use_bfloat16 use_cache
    """.split()
)
"""Settings on which no vector depends."""
HEADS = ("pooler.", "cls.", "lm_head.", "vocab_", "classifier.", "pre_classifier.", "qa_outputs.")
"""Beginnings of the names of tensors that other tasks use after the last hidden states."""
BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
"""Constants that some files store among the weights."""


@dataclass(frozen=True)
class Architecture:
    """The sizes of a transformer.

    Attributes
    ----------
    model_type
        One of :data:`FAMILIES`.
    hidden, intermediate, layers, heads
        The width of the hidden states and of the feed-forward layers; the number of layers, and of attention heads.
    positions, vocabulary, token_types
        The rows of the tables of embeddings; without a table of token types, 0.
    epsilon
        What each LayerNorm adds to the variance.
    padding
        The id of the padding token if positions begin after it; None if they begin at 0.
    """

    model_type: str
    hidden: int
    intermediate: int
    layers: int
    heads: int
    positions: int
    vocabulary: int
    token_types: int
    epsilon: float
    padding: int | None

    @classmethod
    def of(cls, config: JsonObject) -> Architecture:
        """Read the content of a model's ``config.json``.

        Raises
        ------
        NotSupportedError
            For another architecture, for a setting with an effect that the graph does not have, and for an unknown
            setting.
        """
        model_type = config.get("model_type")
        if model_type not in FAMILIES:
            raise NotSupportedError(f"its model_type is {model_type!r}")
        family = FAMILIES[model_type]
        if model_type == "distilbert":
            config = {DISTILBERT.get(name, name): value for name, value in config.items()}
        _check_settings(config)
        padding = None
        if family.after_padding:
            # MPNet always uses 1, whatever its configuration says.
            padding = 1 if model_type == "mpnet" else config.get("pad_token_id", 1)
        try:
            architecture = cls(
                model_type,
                hidden=config["hidden_size"],
                intermediate=config["intermediate_size"],
                layers=config["num_hidden_layers"],
                heads=config["num_attention_heads"],
                positions=config["max_position_embeddings"],
                vocabulary=config["vocab_size"],
                token_types=config["type_vocab_size"] if family.has_token_types else 0,
                # DistilBERT has no such setting, and always uses this value.
                epsilon=config.get("layer_norm_eps", 1e-12),
                padding=padding,
            )
        except KeyError as error:
            # The library would use its own default.
            raise NotSupportedError(f"its config.json has no {error.args[0]}") from None
        if architecture.hidden % architecture.heads:
            raise NotSupportedError(f"{architecture.heads} attention heads do not divide its dimensions")
        return architecture

    @property
    def family(self) -> ModelFamily:
        """The names of the tensors."""
        return FAMILIES[self.model_type]

    @property
    def has_position_bias(self) -> bool:
        """Whether the attention scores have a bias for the relative position of two tokens."""
        return self.model_type == "mpnet"

    @property
    def shapes(self) -> Shapes:
        """The shape of each tensor that the graph needs, by name, without the prefix."""
        shapes: Shapes = {
            WORDS: (self.vocabulary, self.hidden),
            POSITIONS: (self.positions, self.hidden),
            **_vectors("embeddings.LayerNorm", self.hidden),
        }
        if self.token_types:
            shapes[TYPES] = (self.token_types, self.hidden)
        if self.has_position_bias:
            shapes[POSITION_BIAS] = (BUCKETS, self.heads)
        for number in range(self.layers):
            part = self.parts(number)
            for name in ("query", "key", "value", "attended"):
                shapes |= _linear(part[name], self.hidden, self.hidden)
            shapes |= _linear(part["up"], self.hidden, self.intermediate)
            shapes |= _linear(part["down"], self.intermediate, self.hidden)
            shapes |= _vectors(part["first_norm"], self.hidden)
            shapes |= _vectors(part["second_norm"], self.hidden)
        return shapes

    def parts(self, layer: int) -> dict[str, str]:
        """Return the full name of each part of a layer."""
        return {part: f"{self.family.layers}.{layer}.{name}" for part, name in self.family.parts.items()}

    def check_names(self, names: frozenset[str]) -> None:
        """Check that a file has all tensors, and no others that could have an effect.

        Parameters
        ----------
        names
            The names of the tensors in the file, without the prefix.

        Raises
        ------
        NotSupportedError
            With one missing or unknown tensor.
        """
        missing = self.shapes.keys() - names
        if missing:
            raise NotSupportedError(f"its weights lack the tensor {min(missing)!r}")
        unknown = [name for name in names - self.shapes.keys() if name not in BUFFERS and not name.startswith(HEADS)]
        if unknown:
            raise NotSupportedError(f"its weights have the unknown tensor {min(unknown)!r}")


def _check_settings(config: JsonObject) -> None:
    """Raise NotSupportedError for a setting that is unknown or has an effect that the graph does not have."""
    for name, value in config.items():
        if name not in READ | WITHOUT_EFFECT | FIXED.keys():
            raise NotSupportedError(f"its config.json has the unknown setting {name!r}")
        if name in FIXED and value != FIXED[name]:
            raise NotSupportedError(f"its config.json has {name}={value!r}")


def _vectors(name: str, size: int) -> Shapes:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}


def _linear(name: str, size_in: int, size_out: int) -> Shapes:
    return {f"{name}.weight": (size_out, size_in), f"{name}.bias": (size_out,)}
