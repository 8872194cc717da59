"""Chat models that write questions and fusions."""
