"""A random BERT of two layers that reads any English text, letter by letter: as a model's folder, and exported."""

import shutil
import string
from pathlib import Path

HIDDEN = 32


def make(folder: Path, pooling="mean", prompts=None, dense=False) -> Path:
    """Write the model and return its folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    raw = folder / "raw"
    raw.mkdir(parents=True)
    letters = string.ascii_lowercase + string.digits + string.punctuation
    words = ["[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, "[PAD]", *(f"##{letter}" for letter in letters)]
    (raw / "vocab.txt").write_text("\n".join(words) + "\n")
    sizes = {"hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
    pad = words.index("[PAD]")
    config = BertConfig(
        vocab_size=len(words), max_position_embeddings=64, initializer_range=0.3, pad_token_id=pad, **sizes
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config).save_pretrained(raw)
        modules = [Pooling(HIDDEN, pooling), *([Dense(HIDDEN, 24)] if dense else []), Normalize()]
    BertTokenizerFast(vocab=str(raw / "vocab.txt")).save_pretrained(raw)
    model = SentenceTransformer(modules=[Transformer(str(raw)), *modules], prompts=prompts or {})
    model.max_seq_length = 48
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    return folder / "model"


def make_head(folder: Path, head: str, **config) -> Path:
    """Write such a BERT with a head, by the name of its class in transformers, and return its folder."""
    import torch
    import transformers

    raw = make(folder).parent / "raw"
    with torch.random.fork_rng():
        torch.manual_seed(0)
        getattr(transformers, head)(transformers.BertConfig.from_pretrained(raw, **config)).save_pretrained(raw)
    return raw


def export(model: Path, folder: Path, int8: bool = False) -> Path:
    """Write the folder as sentence-transformers and optimum do: a graph that ends with tokens beside the configuration.

    An 8-bit graph is quantised dynamically.
    """
    shutil.copytree(model, folder)
    graph = folder / "onnx" / "model.onnx"
    tokens_graph(model, graph)
    if int8:
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(str(graph), str(graph), weight_type=QuantType.QUInt8, per_channel=True)
    return folder


def tokens_graph(model: Path, path: Path) -> None:
    """Write the ONNX graph of the transformer alone, as optimum does: it ends with ``last_hidden_state``."""
    import warnings

    import torch
    from transformers import AutoModel

    class Last(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = AutoModel.from_pretrained(model, local_files_only=True)

        def forward(self, ids, mask, types):
            return self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state

    ids = torch.ones((2, 5), dtype=torch.int64)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "tokens"} for name in [*names, "last_hidden_state"]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Last().eval(),
            (ids, mask, torch.zeros_like(ids)),
            str(path),
            input_names=names,
            output_names=["last_hidden_state"],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
