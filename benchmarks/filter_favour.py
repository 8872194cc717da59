"""How much a composition set favours the encoder that its differences were filtered with.

    python benchmarks/filter_favour.py xquad.en.json [--limit N]
    python benchmarks/filter_favour.py tuples.jsonl --below 0.5

Bansal et al. (2025, section 5) keep differences whose parts are far apart under some encoders, and assay the same
encoders on them. Here documents are fused by rules and filtered with X (all-MiniLM-L6-v2), with Y (tfidf), and not at
all; C3, C4 and C5 of X and Y on each set, beyond their nulls, with 95 % intervals. Compare along a row: the favour of
being the filter is what an encoder gains on its own set beyond what it gains on the other's. N documents are drawn by
the seed; a document gives three triples at most. 60 documents take about a minute on two cores. A file of tuples
(WebNLG's, say) has differences that people wrote: there nothing is fused.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from _machine import describe

import embassay as ea
from embassay.run.resolve import load_corpus, load_encoder
from embassay.testsets.base import silent
from embassay.testsets.fusion_filter import Filter, filtered
from embassay.testsets.kinds import composition

ENCODERS = ("all-MiniLM-L6-v2", "tfidf")
CRITERIA = {
    "C3 nearer to A, A to B": ("c3:TT", "cosine", "eps0"),
    "C4 against B": ("c4:vsB", "cosine", "eps0"),
    "C4 against A": ("c4:vsA", "cosine", "eps0"),
    "C5 within 15°": ("c5:within15", "angle", ""),
}


def cell(rows, encoder, subset, measure, epsilon):
    """Return the share and its excess over the null with its interval, in percent."""
    found = {
        r.condition: r
        for r in rows
        if (r.quantity, r.encoder, r.subset, r.measure) == ("share", encoder, subset, measure)
    }
    share, excess = found[epsilon], found[f"excess:{epsilon}".rstrip(":")]
    if share.value is None or excess.value is None:
        return "–"
    within = "" if excess.low is None else f" [{100 * excess.low:+.1f}, {100 * excess.high:+.1f}]"
    return f"{100 * share.value:5.1f}  {100 * excess.value:+6.1f}{within}"


def sets_of(source, count, below):
    """Yield (title, corpus) of each of the three sets: from tuples as they are, else fused by rules."""
    filters = {"not filtered": (), **{f"filtered with {name}": (load_encoder(name),) for name in ENCODERS}}
    for title, encoders in filters.items():
        # Without an encoder nothing is filtered, and a bound of its cosine would be refused.
        bound = {"below": below} if encoders else {}
        if source.suffix == ".jsonl":
            corpus = load_corpus(str(source))
            kept = filtered([({}, corpus.samples)], Filter(encoders, **bound), silent).samples
            yield title, replace(corpus, name=title, samples=kept)
        else:
            sources = composition.read(source).sources
            built = composition.build(sources, count=count, filters=encoders, per_document=3, **bound)
            yield title, built.corpus(title)


def main() -> None:
    """Build the three sets, assay both encoders on each, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--limit", type=int, default=None, help="documents")
    parser.add_argument("--below", type=float, default=0.25, help="the cosine of the filter")
    given = parser.parse_args()
    print(describe())
    tables = {}
    for title, corpus in sets_of(given.source, given.limit, given.below):
        differences = [sample for sample in corpus.samples if sample.operator == "difference"]
        print(f"{title}: {len(differences):,} differences, {len({sample.unit for sample in differences}):,} units")
        tables[title] = ea.assay(ENCODERS, [corpus], ["composition"], baselines=False).rows
    print("share, and its excess over the null with a 95 % interval; percent")
    print(f"{'':<42}" + "".join(f"{title:<42}" for title in tables))
    for encoder in ENCODERS:
        for name, key in CRITERIA.items():
            cells = "".join(f"{cell(rows, encoder, *key):<42}" for rows in tables.values())
            print(f"{encoder + ', ' + name:<42}{cells}")


if __name__ == "__main__":
    main()
