"""How time and memory grow with texts, passages, documents and encoders; beside other libraries.

    python benchmarks/scale.py [encode] [neural] [search] [documents] [encoders] [peers] [--small | --full]

All sections unless some are named. Each size runs in a process of its own, of which time and peak memory are printed,
start and imports included. The exponent is the slope of log processor time on log size. The start, estimated from the
two smallest sizes, is subtracted first. All sizes but the largest are repeated, and the least time counts.

``--small`` takes a few minutes. ``--full`` searches 10^7 passages, which needs 8 GB of disk, reads 640,000 documents,
which needs 3 GB of memory, and encodes 10^5 texts with all-MiniLM-L6-v2. Files lie in a temporary folder (TMPDIR) and
are removed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from _measure import Cost, best_of, machine, measure, slope

MODEL = "all-MiniLM-L6-v2"
CHILD = [sys.executable, str(Path(__file__).with_name("_scale_children.py"))]
EMBASSAY = [sys.executable, "-m", "embassay"]
WIDTH, QUESTIONS = 384, 1_000
DOCUMENT_QUESTIONS = 500


@dataclass(frozen=True)
class Sizes:
    """How many texts for hashing, texts for the model, passages, documents, encoders, texts beside the peers."""

    hashing: tuple[int, ...]
    neural: tuple[int, ...]
    passages: tuple[int, ...]
    documents: tuple[int, ...]
    encoders: tuple[int, ...]
    peers: int
    repeats: int = 2


SIZES = {
    "small": Sizes(
        hashing=(10**3, 10**4, 10**5),
        neural=(100, 300, 1_000),
        passages=(10**3, 10**4, 10**5),
        documents=(20_000, 40_000, 80_000),
        encoders=(2, 4, 8),
        peers=1_000,
        repeats=1,
    ),
    "default": Sizes(
        hashing=(10**3, 10**4, 10**5, 10**6),
        neural=(10**3, 3_000, 10**4),
        passages=(10**4, 10**5, 10**6),
        documents=(20_000, 80_000, 320_000),
        encoders=(2, 4, 8, 16, 32),
        peers=3_000,
    ),
    "full": Sizes(
        hashing=(10**3, 10**4, 10**5, 10**6),
        neural=(10**3, 10**4, 10**5),
        passages=(10**4, 10**5, 10**6, 10**7),
        documents=(20_000, 80_000, 320_000, 640_000),
        encoders=(2, 4, 8, 16, 32),
        peers=3_000,
    ),
}
SECTIONS = ("encode", "neural", "search", "documents", "encoders", "peers")
SUBJECTS = "sensor report answer engineer document bridge river question teacher battery signal market garden".split()
VERBS = "measures describes replaces follows delays improves repeats ignores explains carries".split()
PLACES = "harbour north office valley station archive workshop corner tunnel library".split()


def sentences(count: int):
    """Yield made-up sentences of 4 to 40 words; nearly all are different."""
    rng = random.Random(0)  # noqa: S311 - texts, no secrets
    for number in range(count):
        parts = [
            f"the {rng.choice(SUBJECTS)} {rng.choice(VERBS)} the {rng.choice(PLACES)}" for _ in range(rng.randint(1, 6))
        ]
        parts.append(f"at {rng.randint(1, 9_999)} of {number % 997}")
        yield " and ".join(parts) + "."


def write_texts(path: Path, count: int) -> None:
    import polars

    polars.DataFrame({"id": [str(number) for number in range(count)], "text": list(sentences(count))}).write_parquet(
        path
    )


def encode(folder: Path, sizes: tuple[int, ...], repeats: int, encoder: str) -> None:
    """Encode files of texts into parts of float16."""
    costs = []
    for count in sizes:
        texts, out = folder / "texts.parquet", folder / "vectors"
        write_texts(texts, count)
        command = encode_command(encoder, texts, out)
        costs.append(
            best_of(
                1 if count == max(sizes) else repeats, command, lambda out=out: shutil.rmtree(out, ignore_errors=True)
            )
        )
        shutil.rmtree(out)
    show(f"embassay encode -e {encoder} --dtype float16, texts", sizes, costs)


def encode_command(encoder: str, texts: Path, out: Path, *options: str) -> list[str]:
    return [*EMBASSAY, "encode", "-e", encoder, "--texts", str(texts), "-o", str(out), "--dtype", "float16", *options]


def search(folder: Path, sizes: tuple[int, ...], repeats: int) -> None:
    """Search parts: the top 10 of each question, and the rank of one chosen passage."""
    costs = []
    for count in sizes:
        parts = folder / "passages"
        needed = 1.1 * count * WIDTH * 2
        if shutil.disk_usage(folder).free < needed:
            print(f"{count:,} passages left out: they need {needed / 1e9:.1f} GB of free disk (TMPDIR)")
            break
        measure([*CHILD, "make", str(parts), str(count), str(WIDTH)])
        costs.append(best_of(1 if count == max(sizes) else repeats, [*CHILD, "search", str(parts), str(QUESTIONS)]))
        shutil.rmtree(parts)
    done = sizes[: len(costs)]
    show(f"search of float16 parts, {QUESTIONS:,} questions, {WIDTH} dimensions, passages", done, costs)


def documents(folder: Path, sizes: tuple[int, ...], repeats: int) -> None:
    """Run hashing and the baselines on a retrieval corpus that is in memory."""
    costs = []
    for count in sizes:
        texts, questions = folder / "documents.parquet", folder / "questions.jsonl"
        write_texts(texts, count)
        write_questions(questions, count)
        source = f"made={texts},questions={questions}"
        command = [*EMBASSAY, "run", "--no-cache", "--quiet", "--overwrite", "-o", str(folder / "run")]
        command += ["-e", "hashing", "-c", source]
        costs.append(best_of(1 if count == max(sizes) else repeats, command))
    show(f"embassay run -e hashing with its baselines, {DOCUMENT_QUESTIONS} questions, documents", sizes, costs)


def write_questions(path: Path, count: int) -> None:
    """Write questions that have half of the words of a document, in another order."""
    rng = random.Random(1)  # noqa: S311 - texts, no secrets
    chosen = set(rng.sample(range(count), DOCUMENT_QUESTIONS))
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(sentences(count)):
            if number not in chosen:
                continue
            words = text.removesuffix(".").split()
            some = rng.sample(words, max(3, len(words) // 2))
            question = {"id": f"q{number}", "text": " ".join(some) + "?", "relevant": [str(number)]}
            file.write(json.dumps(question) + "\n")


def encoders(folder: Path, sizes: tuple[int, ...]) -> None:
    """Run some encoders on all built-in corpora."""
    costs = []
    for count in sizes:
        command = [*EMBASSAY, "run", "--no-cache", "--quiet", "--overwrite", "-o", str(folder / "run")]
        for number in range(count):
            command += ["-e", encoder_spec(number)]
        costs.append(measure(command))
    show("embassay run on all built-in corpora, encoders (and two or three baselines)", sizes, costs)


def encoder_spec(number: int) -> str:
    """Return one of many different encoders that need no model."""
    specs = (f"hashing,dim={64 + number}", f"random,seed={number}", f"bow,pca={16 + number}")
    return f"e{number}={specs[number % len(specs)]}"


def peers(folder: Path, count: int, repeats: int) -> None:
    """Encode the same texts with the same model by sentence-transformers, by mteb and by us; loading included."""
    texts, out = folder / "texts.parquet", folder / "vectors"
    write_texts(texts, count)
    ways = []
    ways.append(("embassay encode", encode_command(MODEL, texts, out)))
    for workers in (1, 2):
        ray = ("--executor", "ray", "--workers", str(workers))
        ways.append((f"embassay encode --executor ray --workers {workers}", encode_command(MODEL, texts, out, *ray)))
        peer = [*CHILD, "sentence-transformers", str(texts), str(workers)]
        ways.append((f"sentence-transformers encode, {workers} {'process' if workers == 1 else 'processes'}", peer))
    ways.append(("mteb SentenceTransformerEncoderWrapper", [*CHILD, "mteb", str(texts), "1"]))
    costs: dict[str, list[Cost]] = {name: [] for name, _ in ways}
    # In turn, round by round: a busy minute of the machine falls on all of them.
    for _ in range(repeats):
        for name, command in ways:
            shutil.rmtree(out, ignore_errors=True)
            costs[name].append(measure(command))
    print(f"\n{count:,} texts with {MODEL}, start and loading included; the best of {repeats}")
    print(f"{'':<46}{'seconds':>9}{'texts/s':>9}{'CPU s':>9}{'peak MB':>9}")
    for name, rounds in costs.items():
        seconds, peak = min(cost.seconds for cost in rounds), max(cost.peak for cost in rounds)
        cpu = min(cost.cpu for cost in rounds)
        print(f"{name:<46}{seconds:9.1f}{count / seconds:9.0f}{cpu:9.1f}{peak:9.0f}")


def show(title: str, sizes, costs: list[Cost]) -> None:
    """Print a table, and how processor time grows."""
    print(f"\n{title}")
    print(f"{'n':>12}{'seconds':>10}{'per second':>12}{'CPU s':>9}{'peak MB':>9}")
    for count, cost in zip(sizes, costs, strict=True):
        print(f"{count:>12,}{cost.seconds:10.2f}{count / cost.seconds:12,.0f}{cost.cpu:9.2f}{cost.peak:9.0f}")
    # The smallest size is nearly all start. A line through it and the next one gives what a size of 0 would take.
    first, second = costs[0].cpu, costs[1].cpu
    start = max(first - sizes[0] * (second - first) / (sizes[1] - sizes[0]), 0.0)
    larger, remaining = list(sizes[1:]), [cost.cpu - start for cost in costs[1:]]
    if len(larger) < 2 or min(remaining) <= 0:
        print("too few sizes, or too much noise, for an exponent")
        return
    exponent, error = slope(larger, remaining)
    precision = "" if len(larger) < 3 else f" ± {error:.2f} (standard error)"
    print(f"processor time grows as n^{exponent:.2f}{precision}, less {start:.2f} s of start; n from {larger[0]:,}")
    sys.stdout.flush()


def main() -> None:
    arguments = sys.argv[1:]
    mode = "default"
    for name in ("small", "full"):
        if f"--{name}" in arguments:
            mode = name
    sections = [word for word in arguments if not word.startswith("--")] or list(SECTIONS)
    unknown = set(sections) - set(SECTIONS)
    if unknown:
        sys.exit(f"unknown section: {', '.join(sorted(unknown))}; sections: {', '.join(SECTIONS)}")
    sizes = SIZES[mode]
    with tempfile.TemporaryDirectory(prefix="embassay-scale-") as name:
        folder = Path(name)
        measured = {
            "encode": lambda: encode(folder, sizes.hashing, sizes.repeats, "hashing"),
            "neural": lambda: encode(folder, sizes.neural, sizes.repeats, MODEL),
            "search": lambda: search(folder, sizes.passages, sizes.repeats),
            "documents": lambda: documents(folder, sizes.documents, sizes.repeats),
            "encoders": lambda: encoders(folder, sizes.encoders),
            "peers": lambda: peers(folder, sizes.peers, sizes.repeats),
        }
        if set(sections) & set(measured):
            print(time.strftime("%Y-%m-%d"), machine(), sep="\n")
        for section, run in measured.items():
            if section in sections:
                print(f"\n[{section}] load {os.getloadavg()[0]:.1f}", end="", flush=True)
                run()


if __name__ == "__main__":
    main()
