"""One way of sentence-transformers' encode, in a Python of its own: the onnx and openvino backends want older packages.

    python benchmarks/_encode_peer.py MODEL BACKEND BATCH TEXTS.json VECTORS.npy

Prints a JSON list: seconds of one encode after a warm-up, and the versions.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

warnings.simplefilter("ignore")


def main() -> None:
    """Load, warm up, encode once, print."""
    import numpy as np
    from sentence_transformers import SentenceTransformer

    logging.disable(logging.WARNING)
    model, backend, batch, texts, vectors = sys.argv[1:]
    words = json.loads(Path(texts).read_text(encoding="utf-8"))
    encoder = SentenceTransformer(model, backend=backend, device="cpu")
    encoder.encode(words[:64], batch_size=int(batch))
    start = time.perf_counter()
    found = encoder.encode(words, batch_size=int(batch))
    seconds = time.perf_counter() - start
    np.save(vectors, found)
    runtime = {"onnx": "onnxruntime", "openvino": "openvino"}.get(backend, "torch")
    names = ("sentence-transformers", runtime)
    print(json.dumps([seconds, " ".join(f"{name} {version(name)}" for name in names)]))


if __name__ == "__main__":
    main()
