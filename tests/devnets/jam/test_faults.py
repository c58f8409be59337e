from laneway.devnets.jam.faults import Fault, Faults


def test_every_switch_is_off_in_the_beginning_and_none_has_bitten() -> None:
    faults = Faults()
    for fault in Fault:
        if fault is not Fault.PARTITION:
            assert not getattr(faults, fault.value)
    assert set(faults.bites) == set(Fault)
    assert not any(faults.bites.values())


def test_bites_are_counted_by_switch() -> None:
    faults = Faults()
    faults.bit(Fault.LATE)
    faults.bit(Fault.LATE, 2)
    assert faults.bites[Fault.LATE] == sum(faults.bites.values()) == 3
