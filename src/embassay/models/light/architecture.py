"""The architectures of the light route: their settings in ``config.json``, and the names of their tensors.

All are BERT (Devlin et al. 2019) with other names, other first positions, or MPNet's relative position bias. In: the
content of ``config.json``; out: what the graph needs to know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from embassay.core.types import JsonObject
from embassay.models.neural.modules import padding_id


class NotSupportedError(Exception):
    """The light route cannot run a model; the message says why."""


@dataclass(frozen=True)
class ModelFamily:
    """How models of one ``model_type`` name their tensors, and whether they have token types.

    Attributes
    ----------
    prefix
        The beginning of all names in files that also have the weights of a task.
    renamed
        Parts of names, and what BERT has in their place.
    has_token_types
        Whether there is a table of token types, of which single texts use the first row.
    """

    prefix: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    has_token_types: bool = True


_ROBERTA = ModelFamily("roberta.")
_MPNET = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}
_DISTILBERT = {
    "transformer.layer.": "encoder.layer.",
    "attention.q_lin.": "attention.self.query.",
    "attention.k_lin.": "attention.self.key.",
    "attention.v_lin.": "attention.self.value.",
    "attention.out_lin.": "attention.output.dense.",
    "sa_layer_norm.": "attention.output.LayerNorm.",
    "ffn.lin1.": "intermediate.dense.",
    "ffn.lin2.": "output.dense.",
    "output_layer_norm.": "output.LayerNorm.",
}
FAMILIES = {
    "bert": ModelFamily("bert."),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "distilbert": ModelFamily("distilbert.", _DISTILBERT, has_token_types=False),
    "mpnet": ModelFamily("mpnet.", _MPNET, has_token_types=False),
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
    """What ``config.json`` says of a transformer.

    Attributes
    ----------
    hidden
        The width of the hidden states.
    layers, heads
        The number of layers, and of attention heads in each.
    positions, vocabulary
        The rows of the tables of embeddings.
    epsilon
        What each LayerNorm adds to the variance.
    padding
        The id of the padding token, after which positions begin; −1 if they begin at 0.
    """

    family: ModelFamily
    hidden: int
    layers: int
    heads: int
    positions: int
    vocabulary: int
    epsilon: float
    padding: int

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
        check_settings("config.json", config, READ | WITHOUT_EFFECT, FIXED)
        try:
            return cls(
                family,
                hidden=config["hidden_size"],
                layers=config["num_hidden_layers"],
                heads=config["num_attention_heads"],
                positions=config["max_position_embeddings"],
                vocabulary=config["vocab_size"],
                # DistilBERT has no such setting, and always uses this value.
                epsilon=config.get("layer_norm_eps", 1e-12),
                padding=padding_id(config),
            )
        except KeyError as error:
            # The library would use its own default.
            raise NotSupportedError(f"its config.json has no {error.args[0]}") from None

    @property
    def has_position_bias(self) -> bool:
        """Whether the attention scores have a bias for the relative position of two tokens."""
        return self.family is FAMILIES["mpnet"]

    def name_in_bert(self, name: str) -> str:
        """Return the name that BERT has for a tensor of a file."""
        name = name.removeprefix(self.family.prefix)
        for part, in_bert in self.family.renamed.items():
            name = name.replace(part, in_bert)
        return name


def check_settings(file: str, settings: JsonObject, known: Collection[str], fixed: JsonObject) -> None:
    """Raise NotSupportedError for a setting that is unknown or has an effect that the light route does not have.

    Parameters
    ----------
    known
        The names of settings that may have any value.
    fixed
        Settings that may have one value only.
    """
    for name, value in settings.items():
        if name not in known and name not in fixed:
            raise NotSupportedError(f"its {file} has the unknown setting {name!r}")
        if name in fixed and value != fixed[name]:
            raise NotSupportedError(f"its {file} has {name}={value!r}")
