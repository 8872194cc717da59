"""BLAS has a single thread while several cores work, and only then."""

from threadpoolctl import threadpool_info, threadpool_limits

from embassay.core import cores


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_has_its_threads_back_afterwards():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with cores.single_threads(2) as pool:
            assert pool.submit(blas_threads).result() == {1}
        assert blas_threads() == before
