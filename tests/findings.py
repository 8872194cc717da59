"""The findings of a result, for tests."""


def sentences(result, diagnostic=None):
    """Return the sentences of all findings, or of one diagnostic's, without the last full stop."""
    chosen = [f for f in result.statements if diagnostic in (None, f.diagnostic)]
    return [finding.sentence.removesuffix(".") for finding in chosen]


def titled(result, title):
    """Return the findings of a title."""
    return [finding for finding in result.statements if finding.title == title]
