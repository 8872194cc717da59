"""What a figure is: its key, how its diagnostic declares it, the scores of all encoders, and the verdict."""
