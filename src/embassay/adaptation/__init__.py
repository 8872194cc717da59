"""Domain adaptation from request to verdict; what is trained is in ``training``."""
