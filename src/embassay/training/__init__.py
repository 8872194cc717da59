"""What trains: word vectors, paragraph vectors, the unfolding recursive autoencoder, sentence models on a domain."""
