"""A connection to a service for tests: without waiting between attempts."""

from embassay.models.services.service import Service


def sleeper(pause):
    """Return a function that calls ``pause`` with the seconds instead of waiting."""

    async def sleep(seconds):
        pause(seconds)

    return sleep


def connect(url, key_env="", *, attempts=6, first_pause=0.001, pause=lambda seconds: None, **options):
    """Return a service with these attempts and pauses; the other options are those of ``Service``."""
    service = Service("the test", url, key_env, **{"timeout": 120, "concurrency": 4, **options})
    service.attempts, service.first_pause, service.sleep = attempts, first_pause, sleeper(pause)
    return service


def hurry(monkeypatch, attempts=6, pause=lambda seconds: None):
    """Let all services try so often, with pauses that are not waited for."""
    monkeypatch.setattr(Service, "attempts", attempts)
    monkeypatch.setattr(Service, "first_pause", 0.001)
    monkeypatch.setattr(Service, "sleep", staticmethod(sleeper(pause)))


def one(service, work, item):
    """Return the result of one piece of work of a service."""
    ((_, result, _),) = service.each(work, [item])
    return result
