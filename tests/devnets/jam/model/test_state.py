from msgspec.structs import replace
from tests.devnets.jam.stage import ECHO, Echo, setup
from tests.jam.components import component_codecs

from laneway.devnets.jam.model.genesis import begun
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.state import ChainState, changes
from laneway.devnets.jam.model.values import ServiceSetup
from laneway.jam import state_keys
from laneway.jam.hashing import blake2b
from laneway.jam.rules.checks import ServiceTerms
from laneway.jam.spec import TINY
from laneway.jam.state import state_codecs


def first(**fields: object) -> ChainState:
    _, state = begun(setup(**fields), Keyring(TINY, 0, signs=False))
    return state


def test_all_components_and_accounts_are_written_as_their_codecs_read_them() -> None:
    state = first()
    entries = changes(None, state, TINY)
    assert set(entries) == {*component_codecs(TINY), state_keys.account_key(ECHO)}
    for key, codec in component_codecs(TINY).items():
        written = entries[key]
        assert written is not None
        assert codec.encode(codec.decode(written)) == written


def test_only_what_is_another_object_is_written_again() -> None:
    state = first()
    assert changes(state, state, TINY) == {}
    moved = replace(state, entropy=tuple(blake2b(one) for one in state.entropy))
    assert set(changes(state, moved, TINY)) == {state_keys.ENTROPY}
    richer = replace(state.accounts[ECHO], balance=1)
    paid = replace(state, accounts={**state.accounts, ECHO: richer})
    assert set(changes(state, paid, TINY)) == {state_keys.account_key(ECHO)}


def test_the_history_of_accumulation_is_joined_from_its_entries() -> None:
    state = first()
    history = (
        *state.queue.accumulated[2:],
        (blake2b(b"1"),),
        tuple(sorted(map(blake2b, (b"2", b"3")))),
    )
    after = replace(state, queue=replace(state.queue, accumulated=history))
    written = changes(state, after, TINY)[state_keys.ACCUMULATED]
    assert written == state_codecs(TINY).accumulated.encode(history)


def test_a_state_tells_its_slot_its_terms_and_what_a_service_stored() -> None:
    echo = Echo()
    services = {ECHO: ServiceSetup(service=echo, storage={b"name": b"value"}, min_item_gas=5)}
    state = first(services=services, genesis_slot=4)
    assert state.slot == 4
    assert state.era.standing(state.entropy).active == state.era.active_keys
    assert state.terms() == {ECHO: ServiceTerms(echo.code_hash, 5)}
    assert state.stored(ECHO, b"name") == b"value"
    assert state.stored(ECHO, b"other") is None
