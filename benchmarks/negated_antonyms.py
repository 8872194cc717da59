"""Encoding SemAntoNeg: the paper's procedure, sentence-transformers, and ours, side by side.

    python benchmarks/negated_antonyms.py SemAntoNeg_v1.0.json [ROWS]

The paper's procedure encodes row by row, the input and its candidates each time, every text padded to 128 tokens
(Vahtola et al. 2022, section 4, and their description of the script). The second encodes all texts of all rows in
one call, repeated texts too, as a plain evaluator would. Ours encodes each distinct text once. All three use the same
weights and the same rows, one after the other in one run, and must choose the same candidates. The first takes minutes
and runs once; the others run five times, and the median is shown.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from _machine import describe

from embassay.diagnostics.negated_antonyms import choices
from embassay.run.engine.encode import encode
from embassay.run.resolve import load_encoder
from embassay.stats.geometry.closeness import paired_cosine

REPEATS = 5


def chosen(vectors, rows):
    """Return the (n, 3) choices of the rows; ``vectors`` maps a text to its vector."""
    inputs = np.stack([vectors[r["input"]] for r in rows])
    cosines = [paired_cosine(inputs, np.stack([vectors[r["sentences"][k]] for r in rows])) for k in range(3)]
    return choices(np.stack(cosines, axis=1))


def paper(model, rows):
    """Encode row by row, four texts at a time, padded to 128 tokens."""
    import torch

    vectors = {}
    tokenizer, transformer = model.tokenizer, model[0].auto_model
    for row in rows:
        texts = [row["input"], *row["sentences"]]
        batch = tokenizer(texts, padding="max_length", max_length=128, truncation=True, return_tensors="pt")
        with torch.no_grad():
            hidden = transformer(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        pooled = (hidden * mask).sum(1) / mask.sum(1)
        vectors |= dict(zip(texts, torch.nn.functional.normalize(pooled).numpy(), strict=True))
    return vectors


def plain(model, rows):
    """Encode all texts in one call of sentence-transformers, repeated ones too."""
    texts = [text for row in rows for text in (row["input"], *row["sentences"])]
    return dict(zip(texts, model.encode(texts), strict=True))


def ours(encoder, rows):
    """Encode each distinct text once."""
    texts = tuple(dict.fromkeys(("text", text) for row in rows for text in (row["input"], *row["sentences"])))
    vectors, _ = encode(encoder, texts, None, lambda done: None)
    return {text: vectors.matrix[place] for place, (_, text) in enumerate(texts)}


def main() -> None:
    """Time the three and print seconds and ratios."""
    path = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()][:count]
    encoder = load_encoder("all-MiniLM-L6-v2")
    encoder.encode(["warm up"])
    model = encoder.runner.model
    ways = {
        "the paper's procedure": lambda: paper(model, rows),
        "sentence-transformers, every text": lambda: plain(model, rows),
        "embassay": lambda: ours(encoder, rows),
    }
    print(describe())
    distinct = {text for row in rows for text in (row["input"], *row["sentences"])}
    print(f"{len(rows)} rows, {4 * len(rows)} texts, {len(distinct)} distinct")
    seconds = {name: [] for name in ways}
    results = {}
    for turn in range(REPEATS):
        for name, way in ways.items():
            if turn and name == "the paper's procedure":
                continue
            start = time.perf_counter()
            results[name] = way()
            seconds[name].append(time.perf_counter() - start)
    best = np.median(seconds["embassay"])
    expected = chosen(results["embassay"], rows)
    for name, taken in seconds.items():
        same = np.array_equal(chosen(results[name], rows), expected)
        spread = f"[{min(taken):.2f}..{max(taken):.2f}]"
        print(
            f"{name:<36}{np.median(taken):>8.2f} s {spread:<16}{np.median(taken) / best:>7.1f}×  same choices: {same}"
        )


if __name__ == "__main__":
    main()
