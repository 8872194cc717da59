"""One run: the request, its corpora and encoders, the plan, the scores of each encoder, and the result."""
