"""All shards of a folder as one matrix."""

import json
import shutil

import numpy as np
import polars
import pytest

from embassay.core.errors import SourceError
from embassay.core.shards.shards import ShardFolder
from embassay.core.shards.vectors import ShardVectors, open_shards
from embassay.run.sharding.encode import encode_corpus
from embassay.run.sharding.request import EncodeRequest
from embassay.run.sharding.shard import restored_rows
from embassay.search.exact.top import search
from embassay.stats.geometry.isotropy import isotropy

pytestmark = pytest.mark.slow

TEXTS = 230


@pytest.fixture(scope="module", params=["float32", "float16", "int8"])
def folder(request, tmp_path_factory):
    root = tmp_path_factory.mktemp("shards")
    lines = [
        json.dumps({"id": f"d{n}", "text": f"the {n % 200} th text says {n % 17} of {n % 7}"}) for n in range(TEXTS)
    ]
    (root / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    out = root / "out"
    encode_corpus(
        EncodeRequest("hashing,dim=32", [str(root / "texts.jsonl")], out, dtype=request.param, shard_rows=50),
        tell=lambda message: None,
        quiet=True,
    )
    return ShardFolder(out)


def in_memory(folder):
    """Return all rows, read shard by shard."""
    parts = []
    for plan in folder.manifest().shards:
        scale = None
        if folder.manifest().dtype == "int8":
            import polars

            scale = polars.read_parquet(folder.rows_file(plan))["scale"].to_numpy()
        parts.append(restored_rows(np.array(folder.vectors(plan)), scale))
    return np.concatenate(parts)


def test_slices_and_rows_are_those_of_the_array(folder):
    matrix, whole = ShardVectors(folder), in_memory(folder)
    assert matrix.shape == whole.shape == (TEXTS, 32)
    assert len(matrix) == TEXTS
    for part in (slice(0, 10), slice(45, 155), slice(200, None), slice(7, 7), slice(None)):
        np.testing.assert_array_equal(matrix[part], whole[part])
    rows = np.random.default_rng(0).integers(0, TEXTS, 90)
    np.testing.assert_array_equal(matrix[rows], whole[rows])
    assert matrix[rows].dtype == np.float32
    assert matrix[np.empty(0, dtype=np.int64)].shape == (0, 32)


def test_rows_that_do_not_exist_are_refused(folder):
    matrix = ShardVectors(folder)
    for rows in (np.array([TEXTS]), np.array([-1]), np.ones(TEXTS, dtype=bool)):
        with pytest.raises(IndexError):
            matrix[rows]


@pytest.mark.parametrize("similarity_function", ["cosine", "dot"])
def test_a_search_over_shards_has_the_bytes_of_one_in_memory(folder, similarity_function):
    whole = in_memory(folder)
    queries = whole[::9] + np.float32(0.01)
    # Equal texts have equal vectors, so there are ties within and between shards.
    pairs = np.stack([np.arange(len(queries)), np.arange(0, TEXTS, 9)], axis=1)
    expected = search(queries, whole, k=7, similarity_function=similarity_function, pairs=pairs)
    streamed = search(queries, ShardVectors(folder), k=7, similarity_function=similarity_function, pairs=pairs)
    for name in ("documents", "passages", "similarity", "own", "own_passages", "greater", "tied"):
        assert getattr(streamed, name).tobytes() == getattr(expected, name).tobytes(), name


def test_isotropy_over_shards_is_that_of_the_array(folder):
    assert isotropy(ShardVectors(folder)) == isotropy(in_memory(folder))


def test_ids_and_hashes_are_found(folder):
    matrix = ShardVectors(folder)
    assert matrix.rows_of("id", ["d0", "d49", "d50", "d229", "none"]) == {"d0": 0, "d49": 49, "d50": 50, "d229": 229}
    assert [matrix.id_of(row) for row in (0, 50, 229)] == ["d0", "d50", "d229"]
    tables = [polars.read_parquet(folder.rows_file(plan)) for plan in folder.manifest().shards]
    hashes = polars.concat(tables)["text_hash"].to_list()
    assert matrix.rows_of("text_hash", hashes[:60])[hashes[55]] == hashes.index(hashes[55])


def test_a_missing_or_damaged_shard_is_one_message(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder.path, copy)
    vectors = copy / "shards" / "00000002.npy"
    vectors.write_bytes(vectors.read_bytes()[:-50])
    with pytest.raises(SourceError, match=r"shard 00000002: .*repeat the 'embassay encode'"):
        open_shards(copy)
    (copy / "shards" / "00000001.json").unlink()
    with pytest.raises(SourceError, match="shard 00000001 is missing; repeat the 'embassay encode'"):
        open_shards(copy)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("manifest.json", "dtype", "object"),
        ("manifest.json", "shard_rows", "50"),
        ("shards/00000001.json", "rows", True),
    ],
)
def test_wrong_values_in_the_records_are_one_message(folder, tmp_path, name, field, value):
    copy = tmp_path / "copy"
    shutil.copytree(folder.path, copy)
    content = json.loads((copy / name).read_text())
    (copy / name).write_text(json.dumps({**content, field: value}))
    with pytest.raises(SourceError, match=r"damaged|missing"):
        open_shards(copy)


@pytest.mark.parametrize("change", [{"number": "../../x"}, {"rows": -1}])
def test_wrong_values_in_the_list_of_shards_are_one_message(folder, tmp_path, change):
    copy = tmp_path / "copy"
    shutil.copytree(folder.path, copy)
    content = json.loads((copy / "manifest.json").read_text())
    content["shards"][1] |= change
    (copy / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(SourceError, match="the manifest is damaged"):
        open_shards(copy)


def test_numbers_that_no_encoder_gave_are_one_message(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder.path, copy)
    path = copy / "shards" / "00000001.npy"
    if folder.manifest().dtype == "int8":
        # Only the scales of int8 can be NaN.
        table = polars.read_parquet(path.with_suffix(".parquet"))
        table.with_columns(scale=polars.lit(float("nan"), polars.Float32)).write_parquet(path.with_suffix(".parquet"))
    else:
        stored = np.array(np.load(path))
        stored[3, 5] = np.nan
        np.save(path, stored)
    matrix = open_shards(copy)
    with pytest.raises(SourceError, match="shard 00000001 has NaN or infinity"):
        matrix[slice(0, 60)]


def test_vectors_of_another_shape_are_one_message(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder.path, copy)
    matrix = open_shards(copy)
    np.save(copy / "shards" / "00000001.npy", np.zeros((50, 31), dtype=folder.manifest().dtype))
    with pytest.raises(SourceError, match=r"shard 00000001 holds .* of shape \(50, 31\)"):
        matrix[slice(60, 70)]
