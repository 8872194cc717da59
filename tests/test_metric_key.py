"""The names of metrics: they print and parse back, and short ones mean what they say or are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.errors import SpecError
from embassay.core.metric_key import MetricKey, matching, shortest_name

HEADLINE = MetricKey("share", "c1:TT", "cosine", "excess", "composition", "sets")
KEYS = [
    HEADLINE,
    MetricKey("share", "c1:TT", "cosine", "", "composition", "sets"),
    MetricKey("share", "c1:TT", "angle", "", "composition", "sets"),
]
words = st.text("abc:@>- 12", min_size=1, max_size=5)
labels = st.text("ab/.=1", min_size=1, max_size=6)


# A slash before an opening bracket ends a place: corpora may have any name, and no subset is spelled like this.
SUBSETS = st.text("ab,[]:", min_size=1, max_size=6) | st.text("ab/,]:", min_size=1, max_size=6)


@given(
    words,
    st.one_of(st.just("all"), words, SUBSETS),
    st.one_of(st.just(""), words),
    st.one_of(st.just(""), words, st.just("a,b")),
    st.sampled_from(["", "retrieval", "shift"]),
    labels,
)
def test_a_name_prints_and_parses_back(metric, subset, similarity_function, condition, diagnostic, corpus):
    key = MetricKey(metric, subset, similarity_function, condition, diagnostic, f"docs{corpus}" if diagnostic else "")
    assert MetricKey.parse(str(key)) == key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Success@5", MetricKey("Success@5")),
        ("Success@5[all]{whiten}", MetricKey("Success@5", condition="whiten")),
        ("retrieval/Success@5", MetricKey("Success@5", diagnostic="retrieval")),
        ("docs.v2/Success@5", MetricKey("Success@5", corpus="docs.v2")),
        ("retrieval/my/docs/Success@5", MetricKey("Success@5", diagnostic="retrieval", corpus="my/docs")),
        ("accuracy[a/b]", MetricKey("accuracy", "a/b")),
        ("share[c1:TT]{l2,}", MetricKey("share", "c1:TT", "l2")),
    ],
)
def test_what_parts_a_name_has(name, key):
    assert MetricKey.parse(name) == key


def test_a_short_name_means_the_headline_first_and_else_must_be_clear():
    with pytest.raises(SpecError, match=r"name one: share\[c1:TT\]\{cosine,\}, share\[c1:TT\]\{angle,\}"):
        matching("share[c1:TT]", KEYS)
    assert matching("share[c1:TT]", KEYS, [HEADLINE]) == [HEADLINE]
    assert shortest_name(HEADLINE, KEYS, [HEADLINE]) == "share[c1:TT]"
    assert shortest_name(HEADLINE, KEYS) == "share[c1:TT]{excess}"
    assert shortest_name(KEYS[2], KEYS) == "share[c1:TT]{angle,}"


def test_a_condition_is_written_in_braces():
    assert matching("share[c1:TT]{excess}", KEYS) == [HEADLINE]


@pytest.mark.parametrize("name", ["share[c1:TT]{cosine,}", "composition/share[c1:TT]{cosine,}"])
def test_a_metric_that_is_named_in_full_is_not_the_headline(name):
    assert matching(name, KEYS, [HEADLINE]) == [KEYS[1]]


@pytest.mark.parametrize("name", ["composition/share[c1:TT]", "sets/share[c1:TT]", "composition/sets/share[c1:TT]"])
def test_diagnostic_and_corpus_may_stand_in_front(name):
    assert matching(name, KEYS, [HEADLINE]) == [HEADLINE]
    assert matching(name.replace("composition", "retrieval").replace("sets", "docs"), KEYS) == []


def test_what_is_empty_in_a_key_covers_all():
    assert MetricKey("share", "c1:TT", condition="excess").covers(HEADLINE)
    assert not MetricKey("share", "c1:TT").covers(HEADLINE)
    assert not MetricKey("share", "c1:TT", condition="excess", corpus="docs").covers(HEADLINE)
