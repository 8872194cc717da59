"""What the tests of domain adaptation share: the helpers of ``tiny.py`` and a base made by them."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from embassay.training.negatives import Triplet


@pytest.fixture(scope="session")
def tiny():
    """The functions of ``tiny.py``."""
    spec = spec_from_file_location("tiny", Path(__file__).parent / "tiny.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def base(tiny, tmp_path_factory):
    """The folder of a tiny sentence-transformers model with a prompt for queries."""
    for name in ("torch", "sentence_transformers", "accelerate", "datasets"):
        pytest.importorskip(name, reason="needs the extra train")
    return tiny.make_base(tmp_path_factory.mktemp("tiny"), prompts={"query": "query : "})


@pytest.fixture(scope="session")
def domain(tiny):
    """A corpus, triplets of thirty of its questions, and the other ten questions."""
    corpus = tiny.corpus()
    text = {document.id: document.passages[0] for document in corpus.documents}
    triplets = [
        Triplet(q.question, text[q.right[0]], tuple(text[f"d{(n + step) % 40}"] for step in (7, 13)))
        for n, q in enumerate(corpus.samples[:30])
    ]
    return corpus, triplets, corpus.samples[30:]


@pytest.fixture(scope="session")
def stopped():
    """Return what stops a training after so many steps, as a kill would, and counts the steps."""

    class Stopped(Exception):  # noqa: N818
        pass

    def after(number):
        seen = []

        def advance(done, total):
            seen.append((done, total))
            if len(seen) == number:
                raise Stopped

        advance.seen, advance.error = seen, Stopped
        return advance

    return after
