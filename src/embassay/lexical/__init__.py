"""Pure comparisons of texts as words: tokens, ROUGE, Levenshtein."""
