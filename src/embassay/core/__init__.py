"""What all rooms stand on: records of a result, shapes of samples, errors, plug-ins, tables, files, processes."""
