"""What an operator may set."""

import msgspec
import pytest

from laneway.core.errors import BadRequest
from laneway.lanes.contract.settings import POSITIVE, ContractSettings


def test_the_defaults_are_the_seeds_where_it_names_one() -> None:
    settings = ContractSettings()
    assert settings.fast_size == 5
    assert settings.limit_policy == "spill"
    assert settings.count_max is settings.bytes_max is None
    assert not settings.priorities


@pytest.mark.parametrize("name", POSITIVE)
def test_a_zero_that_would_spin_or_rest_for_ever_is_refused(name: str) -> None:
    with pytest.raises(BadRequest) as caught:
        ContractSettings(**{name: 0})  # type: ignore[arg-type]
    assert caught.value.field == name


def test_every_number_has_a_least_value() -> None:
    numbers = {
        field.name
        for field in msgspec.structs.fields(ContractSettings)
        if field.type in (int, int | None)
    }
    assert numbers == set(POSITIVE)


def test_a_key_that_does_not_exist_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"fast_sizes": 5}, ContractSettings)
