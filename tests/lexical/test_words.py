"""Words of texts in many scripts, by hand; plain texts have the words of one regular expression."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.stats.lexical.words import UNSPACED, composed, prepared, tokens, words

# What the texts of a Latin script consist of: composed letters and the punctuation of books.
PLAIN = st.text(
    st.one_of(st.characters(max_codepoint=0x24F, exclude_characters="\u00ad"), st.sampled_from("ẞạ–—‘’“”…€"))
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't like 38.331, os.path_x", ["I", "don", "t", "like", "38", "331", "os", "path_x"]),
        ("हिन्दी में काल", ["हिन्दी", "में", "काल"]),
        ("நான் தமிழ்", ["நான்", "தமிழ்"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("مُحَمَّد", ["مُحَمَّد"]),
        ("한국어 단어", ["한국어", "단어"]),
        (unicodedata.normalize("NFD", "한국어 Café Việt"), ["한국어", "Café", "Việt"]),
        # Scripts without spaces: overlapping pairs, each letter with its marks.
        ("机器学习。模型", ["机器", "器学", "学习", "模型"]),
        ("的", ["的"]),
        ("iPhone手机X", ["iPhone", "手机", "X"]),
        ("東京・大阪", ["東京", "大阪"]),
        ("データの人々", ["デー", "ータ", "タの", "の人", "人々"]),
        ("ไทยดี", ["ไท", "ทย", "ยดี"]),
        ("ขี้ผึ้ง", ["ขี้ผึ้", "ผึ้ง"]),
        ("ລາວ", ["ລາ", "າວ"]),
        ("ខ្មែរ", ["ខ្មែ", "មែរ"]),
        ("မြန်မာ။", ["မြန်", "န်မာ"]),
        # The usual width, and nothing invisible inside a word.
        ("ｶﾞｽＡＢ９", ["ガス", "AB9"]),
        ("co\u00adoperate", ["cooperate"]),
        ("می\u200cروم क्\u200dष", ["میروم", "क्ष"]),
        ("葛\U000e0100城", ["葛城"]),
        ("ไทย\u200bดี a\u200bb", ["ไท", "ทย", "ยดี", "a", "b"]),
        ("", []),
        (" \u0301\u200d…", []),
    ],
)
def test_words_by_hand(text, expected):
    assert words(text) == expected


@given(PLAIN)
def test_latin_texts_have_the_words_that_they_had(text):
    text = unicodedata.normalize("NFC", text)
    assert words(text) == re.findall(r"\w+", text)
    assert tokens(text) == re.findall(r"\w+|[^\w\s]", text)


@given(st.text())
def test_what_is_prepared_stays_and_tokens_hold_the_words(text):
    assert composed(prepared(text)) == prepared(text)
    assert [token for token in tokens(text) if re.match(r"\w", token)] == words(text)


def test_only_letters_digits_and_marks_are_paired():
    paired = re.compile(f"[{UNSPACED}]")
    assigned = [chr(code) for code in range(0x110000) if paired.match(chr(code))]
    others = {unicodedata.category(letter)[0] for letter in assigned} - {"L", "M", "N", "C"}
    assert others == set()
