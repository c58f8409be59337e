from laneway.devnets.jam.model.faults import Faults, JamFault


def test_every_switch_is_off_in_the_beginning_and_none_has_bitten() -> None:
    faults = Faults()
    for fault in JamFault:
        if fault is not JamFault.PARTITION:
            assert not getattr(faults, fault.value)
    assert set(faults.bites) == set(JamFault)
    assert not any(faults.bites.values())


def test_bites_are_counted_by_switch() -> None:
    faults = Faults()
    faults.bit(JamFault.LATE)
    faults.bit(JamFault.LATE, 2)
    assert faults.bites[JamFault.LATE] == sum(faults.bites.values()) == 3


def test_a_validator_takes_part_on_its_side_unless_it_is_silenced() -> None:
    faults = Faults()
    faults.silent_voters = {1, 2}

    def takes_part(validator: int) -> bool:
        return faults.takes_part(validator, lambda one: one < 2, JamFault.SILENT_VOTER)

    assert [takes_part(validator) for validator in range(3)] == [True, False, False]
    assert faults.bites[JamFault.SILENT_VOTER] == faults.bites[JamFault.PARTITION] == 1
