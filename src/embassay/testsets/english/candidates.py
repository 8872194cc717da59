"""Synonyms and antonyms that WordNet has for the words of some sentences, for people to choose from.

The authors of HEROS chose them from four dictionaries (Chiang et al. 2023, section 2.2.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from embassay.testsets.english.random_words import UNUSABLE
from embassay.testsets.english.replacements import is_replaceable, listed_words, word_lists
from embassay.testsets.english.wordnet import open_wordnet
from embassay.testsets.english.words import Tagged

CANDIDATES = ("part", "word", "synonym", "antonym", "synonyms", "antonyms", "sentences", "example")
"""Columns: those of a list of replacements with the first candidates, then all candidates and where the word occurs."""


def candidates(sentences: Iterable[Tagged]) -> Iterator[tuple[str, ...]]:
    """Yield a row of :data:`CANDIDATES` for each word that the package's list lacks, most frequent first."""
    lexicon, phrases = open_wordnet(), word_lists().phrases
    counts, examples = Counter[tuple[str, str]](), dict[tuple[str, str], str]()
    for tagged in sentences:
        for index, word in enumerate(tagged.words):
            if is_replaceable(tagged, index, phrases):
                key = ("adjective", word.lowercase) if word.tag == "JJ" else ("verb", word.lemma)
                counts[key] += 1
                examples.setdefault(key, tagged.text)
    for (part, name), count in counts.most_common():
        letter = part[0]
        synonyms = lexicon.synonyms(name, letter)
        antonyms = lexicon.antonyms(name, letter, of_synonyms=True)
        if synonyms and antonyms and name not in UNUSABLE and (letter, name) not in listed_words():
            # WordNet joins the words of a compound by underscores.
            texts = (synonyms[0], antonyms[0], ", ".join(synonyms), ", ".join(antonyms))
            yield part, name, *(text.replace("_", " ") for text in texts), str(count), examples[part, name]
