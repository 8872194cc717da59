"""How large a cache may become."""

import pytest

from embassay.core.errors import InputError
from embassay.run.cache.cache import byte_limit


@pytest.mark.parametrize(("setting", "limit"), [("5", 5 * 10**9), ("0.5", 500_000_000), ("0", None)])
def test_a_limit_is_a_number_of_gigabytes(monkeypatch, setting, limit):
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", setting)
    assert byte_limit(1) == limit


@pytest.mark.parametrize("setting", ["plenty", "5GB", "1,5", "inf", "nan"])
def test_what_is_no_number_is_one_message(monkeypatch, setting):
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", setting)
    with pytest.raises(InputError, match=r"EMBASSAY_CACHE_LIMIT: .* is not a number of gigabytes"):
        byte_limit(1)
