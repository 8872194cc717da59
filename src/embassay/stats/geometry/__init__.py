"""Pure geometry: arrays in, arrays out; sees numpy and scipy only."""
