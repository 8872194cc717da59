"""All parts of a folder as one matrix."""

import json

import numpy as np
import polars
import pytest

import embassay as ea
from embassay.core.errors import SourceError
from embassay.core.parts import PartVectors, path_of
from embassay.run import encode_texts
from embassay.search.exact.top import search
from embassay.stats.geometry.isotropy import isotropy

TEXTS = 230


@pytest.fixture(scope="module", params=["float32", "float16"])
def folder(request, tmp_path_factory):
    root = tmp_path_factory.mktemp("parts")
    rows = [{"id": f"d{n}", "text": f"the {n % 200} th text says {n % 17} of {n % 7}"} for n in range(TEXTS)]
    polars.DataFrame(rows).write_parquet(root / "texts.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encode_texts, "ROWS", 50)
        ea.encode_corpus("hashing,dim=32", root / "texts.parquet", root / "out", dtype=request.param)
    return root / "out"


def in_memory(folder):
    """Return all rows, read part by part."""
    parts = json.loads((folder / "manifest.json").read_text())["parts"]
    assert len(parts) == 5
    tables = [polars.read_parquet(folder / f"{part['name']}.parquet") for part in parts]
    return np.array(polars.concat(tables)["vector"].to_list(), dtype=np.float32)


def test_slices_and_rows_are_those_of_the_array(folder):
    matrix, whole = PartVectors(folder), in_memory(folder)
    assert matrix.shape == whole.shape == (TEXTS, 32)
    for part in (slice(0, 10), slice(45, 155), slice(200, None), slice(7, 7), slice(None)):
        np.testing.assert_array_equal(matrix[part], whole[part])
    rows = np.random.default_rng(0).integers(0, TEXTS, 90)
    np.testing.assert_array_equal(matrix[rows], whole[rows])
    assert matrix[rows].dtype == np.float32
    assert matrix[np.empty(0, dtype=np.int64)].shape == (0, 32)


@pytest.mark.parametrize("similarity_function", ["cosine", "dot"])
def test_a_search_over_parts_has_the_bytes_of_one_in_memory(folder, similarity_function):
    whole = in_memory(folder)
    queries = whole[::9] + np.float32(0.01)
    # Equal texts have equal vectors, so there are ties within and between parts.
    pairs = np.stack([np.arange(len(queries)), np.arange(0, TEXTS, 9)], axis=1)
    expected = search(queries, whole, k=7, similarity_function=similarity_function, pairs=pairs)
    streamed = search(queries, PartVectors(folder), k=7, similarity_function=similarity_function, pairs=pairs)
    for name in ("documents", "passages", "similarity", "own", "own_passages", "greater", "tied"):
        assert getattr(streamed, name).tobytes() == getattr(expected, name).tobytes(), name


def test_isotropy_over_parts_is_that_of_the_array(folder):
    assert isotropy(PartVectors(folder)) == isotropy(in_memory(folder))


def test_ids_are_found(folder):
    matrix = PartVectors(folder)
    assert matrix.rows_of(["d0", "d49", "d50", "d229", "none"]) == {"d0": 0, "d49": 49, "d50": 50, "d229": 229}
    assert [matrix.id_of(row) for row in (0, 50, 229)] == ["d0", "d50", "d229"]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (None, "1 of 5 parts are missing"),
        (b"half", "part .*: "),
        (np.full((50, 32), np.nan), "has other vectors than its encoder made"),
        (np.ones((50, 31)), "has other vectors than its encoder made"),
        (np.ones((49, 32)), "has other vectors than its encoder made"),
    ],
)
def test_a_missing_or_damaged_part_is_one_message(folder, tmp_path, vectors, message):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    path = path_of(copy, PartVectors(copy).manifest.parts[2])
    path.unlink()
    if isinstance(vectors, bytes):
        path.write_bytes(vectors)
    elif vectors is not None:
        ids = [str(row) for row in range(len(vectors))]
        polars.DataFrame({"id": ids, "vector": polars.Series(vectors.astype(np.float32))}).write_parquet(path)
    with pytest.raises(SourceError, match=message) as error:
        PartVectors(copy)[:]
    assert "repeat the 'embassay encode' that made the folder" in str(error.value)
