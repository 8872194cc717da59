"""The light route of sentence-transformers models: graphs for ONNX Runtime, built from the weights, without torch."""
