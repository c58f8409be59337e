from tests.devnets.jam.stage import ECHO, Echo, setup
from tests.jam.lookups import holds_together

from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.genesis import begun, genesis_hash, pools, rollup_authorizers
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.values import NULL_AUTHORIZER_HASH, ServiceSetup
from laneway.jam import state_keys
from laneway.jam.hashing import blake2b
from laneway.jam.header import header_hash
from laneway.jam.service.commitment import authorizer_records
from laneway.jam.spec import TINY
from laneway.jam.state import REQUEST
from laneway.jam.trie import root

KEYRING = Keyring(TINY, 0, signs=False)


def test_a_chain_begins_with_a_block_in_its_own_history() -> None:
    block, state = begun(setup(genesis_slot=9), KEYRING)
    assert holds_together(block, TINY)
    assert block.header.slot == state.slot == 9
    (recent,) = state.history.blocks
    assert recent.header_hash == header_hash(block.header, TINY)
    assert state.trie.root == root(dict(state.trie.items()))


def test_the_genesis_header_depends_on_no_service() -> None:
    made = setup(seed=b"1", genesis_slot=5)
    block, _ = begun(made, KEYRING)
    assert genesis_hash(made) == header_hash(block.header, TINY)
    assert genesis_hash(setup(seed=b"1", genesis_slot=5, services={})) == genesis_hash(made)


def test_a_seed_makes_another_chain() -> None:
    first, second = (begun(setup(seed=seed), KEYRING)[0] for seed in (b"1", b"2"))
    assert first.header != second.header
    assert begun(setup(seed=b"1"), KEYRING)[0] == first


def test_cores_take_the_null_authorizer_unless_told_otherwise() -> None:
    _, state = begun(setup(authorizers={1: (b"\x01" * 32, b"\x02" * 32)}), KEYRING)
    assert state.pools[0] == (NULL_AUTHORIZER_HASH,) * 8
    assert state.pools[1] == (b"\x01" * 32, b"\x02" * 32) * 4
    assert [len(queue) for queue in state.queues] == [80, 80]


def test_cores_take_the_authorizers_of_a_rollup_beside_the_null_authorizer() -> None:
    own = blake2b(b"own")
    _, state = begun(setup(authorizers=pools(TINY, [own, NULL_AUTHORIZER_HASH, own])), KEYRING)
    assert state.pools == ((NULL_AUTHORIZER_HASH, own) * 4,) * TINY.core_count
    plain, default = (begun(setup(authorizers=one), KEYRING)[1] for one in (pools(TINY, []), {}))
    assert plain.trie.root == default.trie.root


def test_a_rollup_has_the_authorizers_that_its_storage_lists() -> None:
    own = blake2b(b"own")
    rollup = ServiceSetup(service=Echo(), storage=authorizer_records([own]))
    assert rollup_authorizers(setup(services={ROLLUP_SERVICE_DEV: rollup})) == (own,)
    assert rollup_authorizers(setup(services={ROLLUP_SERVICE_DEV + 1: rollup})) == ()


def test_a_service_begins_with_its_storage_preimages_and_requests() -> None:
    echo, wanted = Echo(), blake2b(b"wanted")
    made = ServiceSetup(
        service=echo,
        storage={b"name": b"value"},
        balance=5,
        preimages=(b"given",),
        requests=((wanted, 6),),
    )
    _, state = begun(setup(services={ECHO: made}, genesis_slot=3), KEYRING)
    account = state.accounts[ECHO]
    assert (account.code_hash, account.balance) == (echo.code_hash, 5)
    assert account.items == 1 + 2 * 2
    assert account.octets == (34 + 4 + 5) + (81 + 5) + (81 + 6)
    hashed = blake2b(b"given")
    assert state.stored(ECHO, b"name") == b"value"
    assert state.trie.get(state_keys.preimage_key(ECHO, hashed)) == b"given"
    assert state.trie.get(state_keys.request_key(ECHO, hashed, 5)) == REQUEST.encode((3,))
    assert state.trie.get(state_keys.request_key(ECHO, wanted, 6)) == REQUEST.encode(())
