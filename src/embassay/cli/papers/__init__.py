"""The tables and figures of the five papers, each with the paper's figure beside the one that is measured here."""
