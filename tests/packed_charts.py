"""Unpack the charts of a page, as its script does."""


def column_of(packed, rows):
    """Return the values of a packed column."""
    if isinstance(packed, list):
        return packed
    if "same" in packed:
        return [packed["same"]] * rows
    if "each" in packed:
        return [value for value in packed["each"] for _ in range(packed["times"])]
    return [packed["cycle"][row % len(packed["cycle"])] for row in range(rows)]


def unpacked(spec):
    """Return a chart as Vega-Lite reads it."""
    spec = dict(spec)
    if "columns" in spec.get("data", {}):
        rows = spec["data"]["rows"]
        columns = {name: column_of(column, rows) for name, column in spec["data"]["columns"].items()}
        spec["data"] = {"values": [{name: values[row] for name, values in columns.items()} for row in range(rows)]}
    if "layer" in spec:
        spec["layer"] = [unpacked(layer) for layer in spec["layer"]]
    return spec
