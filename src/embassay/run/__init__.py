"""One run: what is asked for, what it is, what will be done, one encoder, all of them."""
