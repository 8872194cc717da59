"""What is said about a result: findings, limits, advice."""
