"""A connection to a service for tests: without waiting between attempts."""

from embassay.models.services.service import Service


def connect(url, key_env="", *, attempts=6, first_pause=0.001, pause=lambda stop, seconds: None, **options):
    """Return a service with these attempts and pauses; the other options are those of ``Service``."""
    service = Service("the test", url, key_env, **{"timeout": 120, "concurrency": 4, **options})
    service.attempts, service.first_pause, service.pause = attempts, first_pause, pause
    return service


def hurry(monkeypatch, attempts=6, pause=lambda stop, seconds: None):
    """Let all services try so often, with pauses that are not waited for."""
    monkeypatch.setattr(Service, "attempts", attempts)
    monkeypatch.setattr(Service, "first_pause", 0.001)
    monkeypatch.setattr(Service, "pause", staticmethod(pause))
