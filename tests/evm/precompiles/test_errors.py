"""A missing package is named with what installs it."""

import pytest

from laneway.core.errors import LanewayError
from laneway.evm.precompiles.errors import PrecompileUnavailable, needed


def test_a_missing_package_is_a_fault_of_the_installation() -> None:
    with pytest.raises(PrecompileUnavailable) as raised, needed("some_curve"):
        raise ModuleNotFoundError("some_curve")
    assert isinstance(raised.value, LanewayError)
    assert raised.value.package == "some_curve"
    assert "needs the package some_curve" in str(raised.value)
    assert "pip install 'laneway[precompiles]'" in str(raised.value)


def test_imports_that_work_raise_nothing() -> None:
    with needed("hashlib"):
        from hashlib import sha256
    assert sha256(b"").digest_size == 32
