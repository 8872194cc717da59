"""A random BERT of two layers with a vocabulary of its own, and a small domain to train it on."""

import random
from pathlib import Path

from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.training.base_model import LIBRARIES
from embassay.training.options import FinetuneOptions, SentenceRecipe
from embassay.training.stage import Stage

NOUNS = "pump valve tank lamp filter pipe motor belt crane hatch anchor winch rudder ladder boiler gauge".split()
VERBS = "opens closes stops starts leaks turns rises falls".split()
RARE = "slowly loudly daily nightly twice rarely often never".split()
WORDS = ["what", "which", "the", "does", "it", "when", "and", "in", "of", *NOUNS, *VERBS, *RARE]


def stage(folder, recipe=SentenceRecipe, data="", **changes):
    """A training of a sentence encoder with quick settings."""
    given = {"epochs": 2, "batch": 8, "rate": 1e-3, "device": "cpu"}
    kind = "pretraining" if recipe is SentenceRecipe else "finetuning"
    return Stage(Path(folder), kind, recipe(**{**given, **changes}), {"data": data}, LIBRARIES)


def finetuning(folder, **changes):
    """A fine-tuning with quick settings."""
    return stage(folder, FinetuneOptions, **changes)


def sentences(count=40, seed=1):
    rng = random.Random(seed)  # noqa: S311
    found = {}
    while len(found) < count:
        noun, verb, rare, other = rng.choice(NOUNS), rng.choice(VERBS), rng.choice(RARE), rng.choice(NOUNS)
        tail = f" and the {other} {rng.choice(VERBS)}" * rng.randrange(3)
        found[f"the {noun} {verb} {rare}{tail}"] = None
    return list(found)


def corpus(count=40, seed=1):
    """Questions of two words of a document; each document answers one."""
    documents = tuple(Document(f"d{n}", (text,)) for n, text in enumerate(sentences(count, seed)))
    questions = tuple(
        Question(f"q{n}", "what does the {1} do when it {2} {3}".format(*d.passages[0].split()[:4]), (d.id,))
        for n, d in enumerate(documents)
    )
    return Corpus("engine room", "retrieval", questions, documents=documents)


def make_base(folder: Path, prompts=None, dropout=0.1) -> str:
    """Write a sentence-transformers model and return its folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    raw = folder / "raw"
    raw.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ":", "query", *WORDS]
    (raw / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config).save_pretrained(raw)
    BertTokenizerFast(vocab=str(raw / "vocab.txt")).save_pretrained(raw)
    model = SentenceTransformer(modules=[Transformer(str(raw)), Pooling(32), Normalize()], prompts=prompts or {})
    model.max_seq_length = 48
    model.save_pretrained(str(folder / "base"), create_model_card=False)
    return str(folder / "base")


def weights(folder):
    """Return all tensors of a model's folder by name."""
    from safetensors.torch import load_file

    files = Path(folder).rglob("*.safetensors")
    return {f"{p.relative_to(folder)}/{n}": t for p in files for n, t in load_file(p).items()}
