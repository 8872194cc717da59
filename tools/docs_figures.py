"""Compute the measured figures of the documentation and write them between their marks.

    python tools/docs_figures.py [NAME ...]     write all figures, or these, into README.md and docs/
    python tools/docs_figures.py --check        say what the documentation prints otherwise; exit code 1

A figure stands in a block, between ``<!-- figures: NAME -->`` and ``<!-- end -->``; a function of this name below
returns its Markdown. What the README's console blocks show is the block ``console``. Figures of all-MiniLM-L6-v2 need
the extra ``minilm``; those of public data need the folder that EMBASSAY_DATA names, and the test sets built from it
need the extra ``build``. Weights of other encoders are in the folder that EMBASSAY_MODELS names. All of them take about
half an hour, most of it all-mpnet-base-v2 on TeleQuAD.

A figure that differs by one unit of its last printed digit is the same figure: vectors of a neural encoder differ by
1e-7 between machines. Times and sizes of a machine's memory are not here; they carry their date and command instead.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, get_args

import embassay as ea
from embassay import diagnostics
from embassay.core.claims import COUNT, LIMIT, Template
from embassay.reports.findings import templates

ROOT = Path(__file__).parent.parent
HANDBOOK = ROOT / "examples" / "write_handbook.py"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
BLOCK = re.compile(r"(?<=<!-- figures: )(?P<name>[a-z-]+)(?P<mark> -->\n)(?P<text>.*?)(?=<!-- end -->)", re.DOTALL)
CONSOLE = re.compile(r"(?<=^```console\n)\$ (?P<command>[^\n]*)\n(?P<text>.*?)(?=^```)", re.DOTALL | re.MULTILINE)
MINILM = "all-MiniLM-L6-v2"
EDITS_OF_THE_PATTERN = ("synonym", "negation_main", "negation_antonym")
TRANSFORMS = ("standardize", "whiten", "remove_pcs")


# --- numbers in Markdown -------------------------------------------------------------------------------------


def share(value: float, digits: int = 1) -> str:
    """Return a fraction in percent."""
    return f"{100 * value:.{digits}f} %"


def decimal(value: float, digits: int = 3) -> str:
    """Return a number without the 0 before its point, with a minus sign rather than a hyphen."""
    text = f"{value:.{digits}f}".replace("-", "−")
    return re.sub(r"^(−?)0\.", r"\1.", text)


def with_interval(row: Any, scale: float = 1, digits: int = 3) -> str:
    """Return a row's value and its interval: ``.952 [.949, .955]``."""
    value = decimal(scale * row.value, digits)
    low = decimal(scale * row.low, digits)
    high = decimal(scale * row.high, digits)
    return f"{value} [{low}, {high}]"


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    headings = list(head)
    rows = [headings, ["---"] * len(headings), *map(list, lines)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


# --- data and assays, each once in a run ---------------------------------------------------------------------


def data(path: str) -> Path:
    """Return a file or folder of the public data."""
    folder = os.environ.get("EMBASSAY_DATA", "")
    if not folder or not (Path(folder) / path).exists():
        raise SystemExit(f"docs_figures: EMBASSAY_DATA must name the folder with {path}, is {folder!r}")
    return Path(folder) / path


def assay(encoders: Iterable[str], corpus: Any, diagnostic: str, **options: Any) -> ea.Result:
    """Return the result of one diagnostic, which may have options (``retrieval,transforms=all``), on one corpus."""
    return ea.assay(list(encoders), [corpus], [diagnostic], baselines=False, **options)


@cache
def from_comments(kind: str, count: int | None = None) -> Any:
    """Build a test set from the comments of GoEmotions."""
    return ea.build(kind, data("goemotions/train.tsv"), count=count)


@cache
def captions() -> tuple[str, ...]:
    """Return the distinct captions of SugarCrepe++ that were not altered."""
    # A dict keeps each caption once, in order.
    distinct = dict[str, None]()
    for part in ("replace_att", "replace_rel", "swap_att"):
        content = data(f"sugarcrepe_pp/{part}.json").read_text(encoding="utf-8")
        for entry in json.loads(content):
            distinct[entry["caption"]] = None
            distinct[entry["caption2"]] = None
    return tuple(distinct)


@cache
def from_captions() -> Any:
    """Build minimal pairs from image captions."""
    return ea.build("minimal-pairs", captions())


def xquad(documents: str) -> str:
    """Return the spec of XQuAD's English part, its sentences or its paragraphs as documents."""
    return f"xquad={data('xquad_en/xquad.en.json')},documents={documents}"


# --- the figures ---------------------------------------------------------------------------------------------


def minimal_pairs_pattern() -> str:
    """Whether a negation is nearer than a synonym: means and majorities on three kinds of text."""
    corpora = {
        "comments (GoEmotions)": from_comments("minimal-pairs").corpus("comments"),
        "image captions (SugarCrepe++)": from_captions().corpus("captions"),
        "`edits`": "edits",
    }
    lines = []
    for name, corpus in corpora.items():
        result = assay([MINILM], corpus, "minimal_pairs")
        contrast = result.figure("contrast[synonym-negation_main]", MINILM)
        majority = result.figure("nearer[synonym>negation_main]", MINILM)
        line = [name, f"{contrast.items:,}"]
        for edit in EDITS_OF_THE_PATTERN:
            similarity = result.figure(f"similarity[{edit}]", MINILM)
            line.append(decimal(similarity.value))
        line.append(with_interval(contrast))
        line.append(with_interval(majority, 100, 1))
        lines.append(line)
    head = ["originals", "how many", *(f"`{edit}`" for edit in EDITS_OF_THE_PATTERN)]
    return table([*head, "`synonym` − `negation_main`", "`synonym` nearer, %"], lines)


def building_minimal_pairs() -> str:
    """How many minimal pairs come out of what."""
    comments, prose = from_comments("minimal-pairs"), from_captions()
    short = comments.rejected["fewer than 9 words"]
    return (
        f"- GoEmotions, {comments.read:,} rows, {short:,} sentences of them shorter than 9 words: "
        f"{len(comments.samples):,} originals.\n"
        f"- Image captions of SugarCrepe++, {len(captions()):,}: {len(prose.samples):,} originals.\n"
    )


def building_negated_antonyms() -> str:
    """How many quadruples come out of GoEmotions, and how evenly they are spread over pairs of antonyms."""
    built, hundred = from_comments("negated-antonyms"), from_comments("negated-antonyms", count=100)
    samples_of_pair = Counter(sample.pair for sample in built.samples)
    frequent = [pair for pair, _ in samples_of_pair.most_common(2)]
    parts = []
    for samples in (built.samples, hundred.samples):
        number_frequent = sum(sample.pair in frequent for sample in samples)
        parts.append(number_frequent / len(samples))
    return (
        f"GoEmotions: {len(built.samples) // 4:,} quadruples ({len(built.samples):,} entries).\n"
        f"They are unevenly spread: {' and '.join(frequent)} make {share(parts[0], 0)} of them; "
        f"of a hundred drawn with `--count 100` they make {share(parts[1], 0)}.\n"
    )


def composition_webnlg() -> str:
    """The criteria at ε = 0 for three encoders on WebNLG's sets, and C1 on the grid."""
    corpus = ea.load(f"webnlg={data('webnlg_sets/tuples.jsonl')}")
    encoders = (MINILM, "tfidf", "random")
    result = assay(encoders, corpus, "composition")
    columns = {
        "C1 TT": "share[c1:TT]{cosine,eps0}",
        "its null": "share[c1:TT]{cosine,null:eps0}",
        "C2": "share[c2:between]{angle,}",
        "C3 TT": "share[c3:TT]{cosine,eps0}",
        "C4 against B": "share[c4:vsB]{cosine,eps0}",
        " its null": "share[c4:vsB]{cosine,null:eps0}",
        "C5": "share[c5:within15]{angle,}",
    }
    lines = []
    for name in encoders:
        shares_of_encoder = [result.figure(metric, name).value for metric in columns.values()]
        lines.append([name, *map(decimal, shares_of_encoder)])
    # The grid's ends are those of all encoders of a run, so this one is of all-MiniLM-L6-v2 alone.
    alone = assay([MINILM], corpus, "composition")
    cells = {}
    for condition in ("eps0", "grid"):
        parts = []
        for part in ("TT", "TF", "FT", "FF"):
            row = alone.figure(f"share[c1:{part}]{{cosine,{condition}}}", MINILM)
            parts.append(f"{part} {decimal(row.value)}")
        cells[condition] = ", ".join(parts)
    first = result.figure("share[c1:TT]{cosine,eps0}", MINILM)
    return (
        f"WebNLG's sets ({first.items:,} tuples in {first.units} units), cosine, ε = 0:\n\n"
        + table(["", *(name.strip() for name in columns)], lines)
        + f"\nC1 of {MINILM} in all four parts, at ε = 0: {cells['eps0']};\non the grid: {cells['grid']}.\n"
    )


def retrieval_xquad() -> str:
    """Success of all-MiniLM-L6-v2 and bm25 on XQuAD, and the isotropy of its sentences under each transform."""
    success = []
    isotropy = []
    for documents in ("sentences", "paragraphs"):
        corpus = ea.load(xquad(documents))
        result = assay([MINILM, "bm25"], corpus, "retrieval,transforms=all", resamples=100)
        for name in (MINILM, "bm25"):
            at_1 = result.figure("Success@1", name)
            at_5 = result.figure("Success@5", name)
            success.append([f"{len(corpus.documents):,} {documents}", name, share(at_1.value), share(at_5.value)])
        if documents == "sentences":
            for title, metric in (("IsoScore", "isoscore"), ("I_A", "i_a")):
                conditions = ["", *(f"{{{transform}}}" for transform in TRANSFORMS)]
                values = [result.figure(f"{metric}[documents]{condition}", MINILM).value for condition in conditions]
                isotropy.append([title, *(decimal(value, 2) for value in values)])
    headings = ["", "as they are", *(f"`{transform}`" for transform in TRANSFORMS)]
    return (
        table(["XQuAD English", "", "Success@1", "Success@5"], success)
        + f"\nIsotropy of the sentences for {MINILM}:\n\n"
        + table(headings, isotropy)
    )


def answers_pip() -> str:
    """Answers read in pip's documentation, divided in four ways."""
    source = f"pip={data('pip_docs/docs')},questions={ROOT / 'examples/answers/pip.csv'}"
    return _answers(f"{source},passages=[paragraph,sentence,256tokens,document]")


def answers_xquad() -> str:
    """Answers read in XQuAD's articles, divided in three ways."""
    return _answers(f"{xquad('articles')},passages=[paragraph,sentence,100]")


def _answers(source: str) -> str:
    """Return the answers read within four numbers of words, and the differences within 400, by way to divide."""
    result = assay([MINILM], source, "answers")
    budgets = ("Answer@100w", "Answer@200w", "Answer@400w", "Answer@800w", "Answer@5")
    names = list(result.verdict("answers").candidates)
    of_names = [
        [name.removeprefix(f"{MINILM},"), *(with_interval(result.figure(metric, name), 100, 1) for metric in budgets)]
        for name in names
    ]
    lines = [
        f"* {pair.a.removeprefix(f'{MINILM},')} − {pair.b.removeprefix(f'{MINILM},')} within 400 words: "
        f"{points(pair.difference)} points [{points(pair.low)}, {points(pair.high)}], "
        f"{pair.won} won, {pair.lost} lost"
        for pair in result.differences(result.verdict("answers"))
    ]
    return table(["", *budgets], of_names) + "\n" + "\n".join(lines) + "\n"


def setups_fusion() -> str:
    """Two encoders and their fusions with bm25, against bm25; EMBASSAY_MODELS names the folder of the second."""
    tele = f"telequad={data('telequad/TeleQuAD-v4-full.json')},documents=paragraphs"
    corpora = (
        ("XQuAD, sentences", xquad("sentences"), 1),
        ("XQuAD, paragraphs", xquad("paragraphs"), 1),
        ("TeleQuAD, paragraphs", tele, 5),
        ("LIMIT, small", f"limit={data('limit_small')}", 1),
        ("handbook", "handbook", 1),
    )
    candidates = {
        "bm25": "bm25",
        "MiniLM": f"MiniLM={MINILM}",
        "mpnet": f"mpnet={Path(os.environ['EMBASSAY_MODELS']) / 'all-mpnet-base-v2'}",
    }
    for encoder in ("MiniLM", "mpnet"):
        for weight in ("0.5", "0.1", "auto"):
            name = f"{encoder} + bm25, w {weight}"
            candidates[name] = f"{encoder} {weight}=hybrid:{encoder}+bm25,weight={weight}"
    lines = {name: [name] for name in candidates}
    for _, corpus, k in corpora:
        result = assay(list(candidates.values()), ea.load(corpus), f"retrieval,k={k}", reference="bm25")
        (verdict,) = result.verdicts
        compared = {one.candidate: one for one in verdict.opponent("reference").differences}
        for name, spec in candidates.items():
            label = spec.partition("=")[0]
            if label == "bm25":
                lines[name].append(share(result.figure(f"Success@{k}", label).value))
            else:
                one = compared[label]
                lines[name].append(f"{points(one.difference)} [{points(one.low)}, {points(one.high)}]")
    return table(["", *(f"{title}, Success@{k}" for title, _, k in corpora)], lines.values())


def points(value: float) -> str:
    """Return a difference of shares in points."""
    return f"{100 * value:+.1f}".replace("-", "−")


def generating_composition() -> str:
    """What the rules and the filters make of XQuAD's paragraphs."""
    with tempfile.TemporaryDirectory() as folder:
        return _of_paragraphs(_table_of_paragraphs(Path(folder)))


def _table_of_paragraphs(folder: Path) -> Path:
    """Write XQuAD's paragraphs as a table of documents."""
    documents = ea.load(xquad("paragraphs")).documents
    path = folder / "paragraphs.jsonl"
    path.write_text("".join(json.dumps({"id": one.id, "text": one.passages[0]}) + "\n" for one in documents))
    return path


def _of_paragraphs(source: Path) -> str:
    """Say what is built from a table of XQuAD's paragraphs."""
    built = ea.build("composition", source)
    with_triples = sum(sample.operator == "overlap" for sample in built.samples)
    dropped = {}
    for name in (MINILM, "tfidf"):
        filtered = ea.build("composition", source, filters=[name])
        dropped[name] = 1 - differences(filtered.samples) / differences(built.samples)
    return (
        f"XQuAD's {built.read} paragraphs: {with_triples} have three whole sentences in a row, "
        f"which give {len(built.samples):,} samples.\n"
        f"Of their differences {MINILM} drops {share(dropped[MINILM], 0)} "
        f"at the default of 0.25, tfidf {share(dropped['tfidf'], 0)}.\n"
    )


def differences(samples: Iterable[Any]) -> int:
    """Return how many samples are differences."""
    return sum(sample.operator == "difference" for sample in samples)


def generating_filter() -> str:
    """What an encoder gains on a set that it filtered itself: WebNLG's tuples, whose differences people wrote."""
    from embassay.run.resolve import load_corpus, load_encoder
    from embassay.testsets.fusion_filter import filtered

    encoders = (MINILM, "tfidf")
    corpus = load_corpus(str(data("webnlg_sets/tuples.jsonl")))
    corpora = [replace(corpus, name="not filtered")]
    for name in encoders:
        # The default of 0.25 would leave too few.
        kept = filtered([({}, corpus.samples)], (load_encoder(name),), below=0.5)
        corpora.append(replace(corpus, name=f"filtered with {name}", samples=kept.samples))
    results = {}
    for one_set in corpora:
        title = f"{one_set.name} ({differences(one_set.samples):,} differences)"
        results[title] = assay(encoders, one_set, "composition")
    criteria = {
        "C3": ("share[c3:TT]{cosine,eps0}", "share[c3:TT]{cosine,excess:eps0}"),
        "C4 against A": ("share[c4:vsA]{cosine,eps0}", "share[c4:vsA]{cosine,excess:eps0}"),
        "C5 within 15°": ("share[c5:within15]{angle,}", "share[c5:within15]{angle,excess}"),
    }
    lines = []
    for encoder in encoders:
        for name, names in criteria.items():
            cells = [_observed_and_excess(result, encoder, *names) for result in results.values()]
            lines.append([f"{encoder}, {name}", *cells])
    return table(["", *results], lines)


def _observed_and_excess(result: ea.Result, encoder: str, share_name: str, excess_name: str) -> str:
    """Return a share in percent, and by how much it exceeds its null in points, with the interval."""
    observed, excess = result.figure(share_name, encoder), result.figure(excess_name, encoder)
    return f"{100 * observed.value:.0f} · {with_interval(excess, 100, 0)}"


def generating_made() -> str:
    """How far queries made from documents agree with real questions."""
    from made_questions import table as agreement_table

    data("telequad")
    return agreement_table()


def reproduced_papers() -> str:
    """The exhibits of the papers of which some figure can be compared; EMBASSAY_MODELS names the weights."""
    from embassay.cli.papers import NOT_AVAILABLE, figures, summary, written
    from embassay.cli.reproduce import Paper
    from embassay.diagnostics.published import published

    text, measured = "", []
    models = Path(os.environ.get("EMBASSAY_MODELS", ""))
    for paper in get_args(Paper):
        for exhibit in published(paper)["exhibits"]:
            of_exhibit = list(figures(paper, exhibit, data(""), models))
            measured += of_exhibit
            if any(figure.standing != NOT_AVAILABLE for figure in of_exhibit):
                text += written(f"{paper}, {exhibit['exhibit']}: {exhibit['title']}", of_exhibit)
    # The last line counts the figures of all exhibits.
    return text + summary(measured)


# --- docs/findings.md ----------------------------------------------------------------------------------------


def declared_sentences() -> dict[str, dict[str, Template]]:
    """Return all declared sentences by section: those of each part of findings/templates.py, and of each diagnostic."""
    sections = dict[str, dict[str, Template]]()
    section = ""
    for line in Path(templates.__file__).read_text(encoding="utf-8").splitlines():
        name = line.partition(" = ")[0]
        if line.startswith("# "):
            section = line.removeprefix("# ")
        elif isinstance(getattr(templates, name, None), Template):
            sections.setdefault(section, {})[name] = getattr(templates, name)
    for found in pkgutil.walk_packages(diagnostics.__path__, "embassay.diagnostics."):
        module = importlib.import_module(found.name)
        section = found.name.split(".")[2].replace("findings", "any diagnostic")
        declared = dict(vars(module))
        declared |= {f"CHANCES {side}": template for side, template in declared.get("CHANCES", {}).items()}
        for name, template in declared.items():
            is_new = not any(template is known for known in sections.get(section, {}).values())
            if isinstance(template, Template) and is_new:
                sections.setdefault(section, {})[name] = template
    return sections


def sentences() -> str:
    """Return a table of the sentences that a procedure decides, section by section."""
    text = ""
    for section, declared in declared_sentences().items():
        lines = []
        for template in declared.values():
            # Counts, and what limits an answer, claim nothing.
            if template.procedure in (COUNT, LIMIT):
                continue
            title = f"**{template.title}.** " if template.title else ""
            # "{share:.1%}" -> "{share}"
            sentence = re.sub(r"\{([\w.]+):[^}]*\}", r"{\1}", f"{title}{template.text.strip()}")
            # An underscore would start emphasis.
            sentence = re.sub(r"(?<=\w)_(?=\w)", " ", sentence)
            claim = f"{template.claimed}: " if template.claimed.endswith("shown") else ""
            lines.append([sentence, template.when, f"{claim}{template.procedure.text}"])
        if lines:
            text += f"\n## {section[:1].upper()}{section[1:]}\n\n"
            text += table(["sentence", "said if", "by"], lines)
    return text


# --- docs/licences.md ----------------------------------------------------------------------------------------


def licences() -> str:
    """Return a table of the packages that Embassay and its extras install, with the licence that each declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed_by = dict[str, list[str]]()
    for extra, requirements in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        for requirement in requirements:
            package = re.match(r"[\w.-]+", requirement)[0]
            if package != project["name"]:
                needed_by.setdefault(package, []).append(f"`{extra}`" if extra else "always")
    lines = []
    for package, extras in needed_by.items():
        declared = metadata(package)
        # "License :: OSI Approved :: MIT License" -> "MIT License"
        classified = [one.split(" :: ")[-1] for one in declared.get_all("Classifier", []) if one.startswith("License")]
        licence = declared["License-Expression"] or " ".join(classified) or declared["License"]
        lines.append([package, ", ".join(extras), licence])
    return table(["package", "installed with", "licence"], lines)


FIGURES: dict[str, Callable[[], str]] = {
    "minimal-pairs-pattern": minimal_pairs_pattern,
    "building-minimal-pairs": building_minimal_pairs,
    "building-negated-antonyms": building_negated_antonyms,
    "composition-webnlg": composition_webnlg,
    "retrieval-xquad": retrieval_xquad,
    "answers-pip": answers_pip,
    "answers-xquad": answers_xquad,
    "setups-fusion": setups_fusion,
    "generating-composition": generating_composition,
    "generating-filter": generating_filter,
    "generating-made": generating_made,
    "reproduced": reproduced_papers,
    "sentences": sentences,
    "licences": licences,
}


def shown_by(command: str) -> str:
    """Return what a command of the README prints to standard output, in a folder with SemAntoNeg and the handbook."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "SemAntoNeg_v1.0.json").symlink_to(data("semantoneg/SemAntoNeg_v1.0.json"))
        subprocess.run([sys.executable, str(HANDBOOK), folder], check=True)  # noqa: S603
        words = [sys.executable, "-m", *command.split()]
        finished = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603
    # Spaces at the ends of lines align columns, and an editor would remove them from the page.
    lines = [line.rstrip() for line in finished.stdout.rstrip().splitlines()]
    return "\n".join(lines) + "\n"


# --- comparing and writing -----------------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.])[-−+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?!\w)")
OF_MACHINE = re.compile(r"\|(scores|pool):[0-9a-f]{16}|[\d.]+ ms\b")


def agrees(printed: str, computed: str) -> bool:
    """Tell whether two texts are equal but for one unit of the last digit of each number.

    Spaces, which align columns, times, and hashes of scores and pools, which depend on the last bits of vectors, do not
    count.
    """
    printed = OF_MACHINE.sub("", printed)
    computed = OF_MACHINE.sub("", computed)
    if _without_numbers(printed) != _without_numbers(computed):
        return False
    # The texts between the numbers are equal, so there are equally many.
    return all(map(_same_number, NUMBER.findall(printed), NUMBER.findall(computed)))


def _without_numbers(text: str) -> list[str]:
    return NUMBER.sub("#", text).split()


def _same_number(printed: str, computed: str) -> bool:
    """Tell whether two numbers have as many decimals and differ by at most one unit of the last digit."""
    if _decimals(printed) != _decimals(computed):
        return False
    return abs(_in_last_digits(printed) - _in_last_digits(computed)) <= 1


def _decimals(number: str) -> int:
    return len(number.partition(".")[2])


def _in_last_digits(number: str) -> int:
    """Return a number as a multiple of its last digit: -12 for −1.2."""
    digits = re.sub(r"[,.+]", "", number)
    return int(digits.replace("−", "-"))


def renewed(page: str, wanted: Callable[[str], bool], differing: list[str]) -> str:
    """Return a page with the figures of today; names of blocks that differ are added to ``differing``.

    A block that agrees stays as it is, so that a last digit does not change with the machine.
    """

    def renew(name: str, old: str, compute: Callable[[], str]) -> str:
        if not wanted(name):
            return old
        new = compute()
        if agrees(old, new):
            return old
        differing.append(name)
        print(f"{name}: printed\n{old}{name}: computed\n{new}")
        return new

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in FIGURES:
            raise SystemExit(f"docs_figures: a page has a block {name!r}, which no function computes")
        return name + match["mark"] + renew(name, match["text"], FIGURES[name])

    def console(match: re.Match[str]) -> str:
        command = match["command"]
        return f"$ {command}\n" + renew("console", match["text"], lambda: shown_by(command))

    return CONSOLE.sub(console, BLOCK.sub(block, page))


def main() -> int:
    """Check or write the blocks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="blocks; all by default")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where a figure differs")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {*FIGURES, "console"}
    if unknown:
        parser.error(f"no block {sorted(unknown)[0]!r}; known: console, {', '.join(FIGURES)}")
    differing: list[str] = []
    with tempfile.TemporaryDirectory() as cache:
        # Vectors of an earlier version may differ from today's in the last bits.
        os.environ["EMBASSAY_CACHE"] = cache
        for path in PAGES:
            page = path.read_text(encoding="utf-8")
            new = renewed(page, lambda name: not arguments.names or name in arguments.names, differing)
            if new != page and not arguments.check:
                path.write_text(new, encoding="utf-8")
    if arguments.check and differing:
        print(f"docs_figures: {', '.join(differing)} differ; write them with: make docs-figures")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
