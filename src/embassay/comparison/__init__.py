"""Work on finished runs: runs side by side, the gate against a baseline, and how large a test set has to be.

Nothing here encodes a text: everything is computed from the item scores that a run keeps in its folder.
"""
