"""Pure statistics: arrays in, numbers out; sees numpy, scipy and ``embassay.core.types`` only."""
