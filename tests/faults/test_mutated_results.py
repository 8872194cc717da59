"""Files of a run that somebody has damaged: a report is drawn of what is left, or one message says what is wrong."""

import copy
import json
import random
from dataclasses import replace

import pytest

from embassay.api import assay, read
from embassay.core.data import SEMANTONEG_V1
from embassay.core.errors import LONGEST, InputError, SourceError
from embassay.core.types import Origin
from embassay.diagnostics.published import Paper
from embassay.run.outputs.formats import write_again
from embassay.run.outputs.kinds import html
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.results import to_bytes

RUNS = {
    "negated_antonyms": ["opposites"],
    "minimal_pairs": ["edits"],
    "composition": ["vignettes"],
    "localization": ["paraphrases"],
    "retrieval": ["handbook"],
    "isotropy": ["handbook"],
}
QUICK = ("localization", "isotropy") * 4
"""Pages that are drawn soon, and so are tried more often."""
TRIED = 120
VALUES = [
    None, True, False, 0, 1, -1, 3.5, -1e-9, 1e300, 10**30, 2**63, "", "x", "-", "bow", "nan", "\ud800", "\x00\n",
    "x" * 3_000, [], [None], [1], ["a", "b"], [[1]], {}, {"kind": "curve"}, {"a": None},
]  # fmt: skip


@pytest.fixture(scope="module")
def results():
    """A small result of each diagnostic, as JSON."""
    contents = {}
    for name, corpora in RUNS.items():
        limit = 24 if name != "localization" else 6
        made = assay(["hashing,dim=32", "bow"], corpora, [name], cache=None, resamples=20, limit=limit, baselines=False)
        if name == "negated_antonyms":
            # These stand beside the figures of the released corpus only.
            origin = Origin(name, "", "opposites", SEMANTONEG_V1, "hashing", "f", spec="hashing")
            paper = Paper("semantoneg", made.verdicts[0], made.rows, [origin])
            made = replace(made, series=(*made.series, *paper.beside()))
        contents[name] = json.loads(to_bytes(made))
    return contents


def chance(seed):
    return random.Random(seed)  # noqa: S311 - which changes are tried, the same ones each time


def record():
    """What ``run.json`` holds of such a run, with everything in it that a report shows."""
    badges = {"sampled": 9, "drift": 1e-7, "reason": None, "notes": ["read this"]}
    known = {"texts": 4, "route": {"backend": "torch"}, "badges": badges}
    encoders = {"hashing": known, "bow": {**known, "badges": None}}
    settings = {"encoders": {"hashing": ["hashing", "", "f"]}, "corpora": {}, "diagnostics": {}, "seed": 0}
    settings |= {"resamples": 20, "reference": ""}
    return {
        "settings": settings, "state": "failed in part",
        "failures": [{"encoder": "worse", "reason": "no room"}],
        "notes": ["one", "two"], "encoders": encoders, "seconds": 1.5, "embassay": "0.1.0",
    }  # fmt: skip


def places(value, path=()):
    """Yield the path of everything inside a JSON value."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from places(part, (*path, key))


def mutated(content, draw):
    """Return a copy with one to three changes, and what they were."""
    changed, told = copy.deepcopy(content), []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        paths = list(places(changed))
        # Every depth is as likely as any other: most of what there is lies deep.
        depth = draw.choice(sorted({len(path) for path in paths}))
        path = draw.choice([p for p in paths if len(p) == depth])
        told.append((path, _change(changed, path, draw)))
    return changed, told


def _change(content, path, draw):
    *outer, last = path
    for key in outer:
        content = content[key]
    how = draw.choice(("replace", "alter", "alter", "alter", "exchange", "remove", "double", "rename"))
    if how == "remove":
        del content[last]
    elif how == "double" and isinstance(content, list):
        content.insert(last, copy.deepcopy(content[last]))
    elif how == "rename" and isinstance(content, dict):
        content[draw.choice(("x", "kind", "name", "at", ""))] = content.pop(last)
    elif how == "exchange" and len(content) > 1:
        keys = list(content) if isinstance(content, dict) else range(len(content))
        other = draw.choice(keys)
        content[last], content[other] = content[other], content[last]
    elif how == "alter" and isinstance(content[last], (str, int, float, type(None))):
        content[last] = altered(content[last], draw)
    else:
        content[last] = copy.deepcopy(draw.choice(VALUES))
    return how


def altered(value, draw):
    """Return another value of the same type: what a schema cannot tell from the right one."""
    if value is None or isinstance(value, bool):
        return draw.choice((None, True, False, 0.5))
    if isinstance(value, str):
        return draw.choice(("", value[:-1], f"{value} ", "all", "bow", "hashing", "<script>", "a:b[c].d\n"))
    if isinstance(value, int):
        return draw.choice((0, 1, value + 1, 10 * value, 10**18))
    return draw.choice((0.0, -value, 1.0, 1e300 * value, 1e-300))


def write(run, result, kept):
    run.mkdir(exist_ok=True)
    (run / "result.json").write_text(json.dumps(result))
    (run / "run.json").write_text(json.dumps(kept))


def drawn(run):
    """Draw the report, and return the message where it is refused."""
    (run / "report.html").unlink(missing_ok=True)
    try:
        write_again(run, None, "html", html)
    except InputError as error:
        assert str(error).isprintable()
        assert len(str(error)) <= LONGEST
        assert not (run / "report.html").exists()
        return str(error)
    assert "</html>" in (run / "report.html").read_text(encoding="utf-8")
    return None


def try_results(results, run, number, seed):
    refused = 0
    for attempt in range(number):
        draw = chance(f"{seed} {attempt}")
        name = draw.choice([*sorted(results), *QUICK])
        content, told = mutated(results[name], draw)
        write(run, content, record())
        try:
            message = drawn(run)
        except Exception as error:
            raise AssertionError(f"seed {seed} {attempt}, {name}: {told}") from error
        refused += message is not None
    return refused


def try_records(results, run, number, seed):
    refused = 0
    for attempt in range(number):
        draw = chance(f"{seed} {attempt}")
        kept, told = mutated(record(), draw)
        write(run, results["negated_antonyms"], kept)
        try:
            drawn(run)
            # And a run goes on, or is refused with one message.
            try:
                RunFolder(run).open(record()["settings"] | {"seed": 1}, overwrite=not attempt % 2)
            except InputError:
                refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed} {attempt}: {told}") from error
    return refused


@pytest.mark.slow
def test_sound_files_are_drawn_whole(results, tmp_path):
    for content in results.values():
        write(tmp_path / "run", content, record())
        assert drawn(tmp_path / "run") is None
        page = (tmp_path / "run" / "report.html").read_text()
        assert "read this" in page


@pytest.mark.slow
def test_damaged_results_give_a_report_or_one_message(results, tmp_path):
    assert TRIED // 4 < try_results(results, tmp_path / "run", TRIED, "results") < TRIED


@pytest.mark.slow
def test_damaged_records_give_a_report_or_one_message(results, tmp_path):
    assert 0 < try_records(results, tmp_path / "run", TRIED, "records") < TRIED


def test_damaged_bytes_give_a_result_or_one_message(results, tmp_path):
    path = tmp_path / "result.json"
    content = json.dumps(results["negated_antonyms"]).encode()
    for attempt in range(100):
        draw = chance(attempt)
        changed = bytearray(content)
        if attempt % 3:
            for _ in range(draw.randint(1, 4)):
                changed[draw.randrange(len(changed))] = draw.randrange(256)
        else:
            del changed[draw.randrange(len(changed)) :]
        path.write_bytes(changed)
        try:
            read(path)
        except SourceError as error:
            assert str(error).startswith(str(path))
