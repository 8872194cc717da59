"""Domain adaptation from request to verdict; the trainings are in ``embassay.training``."""
