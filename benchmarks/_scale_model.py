def print_model():
    pass
