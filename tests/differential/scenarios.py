"""Snippets that tell a short story, so that a rare order of events is not left to chance."""

from tests.differential.assembly import Snippet, Word, assemble
from tests.differential.calls import INIT_AT, constructor, put, value_words
from tests.differential.snippets import sink
from tests.differential.world import World, number

MARK = 77
"""So many bytes of data say to a contract that it was called by itself."""
REVERT: list[Word] = [32, 0, "REVERT"]
ENDS: list[list[Word]] = [REVERT, REVERT, ["INVALID"], ["STOP"], ["POP"]]
KINDS_OF_CALL = ("CALL", "CALL", "DELEGATECALL", "CALLCODE", "STATICCALL")


def who(world: World) -> Snippet:
    """All that a frame knows of itself."""
    words: list[Word] = []
    names = ["CALLVALUE", "CALLER", "ADDRESS", "ORIGIN", "SELFBALANCE", "CALLDATASIZE", "CODESIZE"]
    for name in world.rng.sample(names, 5):
        words += [name, *sink(world)]
    return tuple(words)


def metered(world: World) -> Snippet:
    """What a touch costs, so that a wrong temperature is seen."""
    rng = world.rng
    if rng.random() < 0.5:
        touch: list[Word] = [rng.randrange(7), "SLOAD"]
    else:
        name = rng.choice(["BALANCE", "EXTCODESIZE", "EXTCODEHASH"])
        touch = [world.address_word(), name]
    return ("GAS", *touch, "POP", "GAS", "SWAP1", "SUB", *sink(world))


def transient_life(world: World) -> Snippet:
    """What an earlier frame or transaction left in transient storage, and then something new."""
    slot = world.rng.randrange(4)
    return (slot, "TLOAD", *sink(world), number(world.rng) | 1, slot, "TSTORE")


def _deed(world: World) -> list[Word]:
    """Something that a failing frame must take back."""
    rng = world.rng
    match rng.randrange(9):
        case 0 | 1:
            return [number(rng) | 1, rng.randrange(4), "TSTORE"]
        case 2:
            return [rng.choice([0, 1, 9]), rng.randrange(6), "SSTORE"]
        case 3:
            return [7, 32, 0, "LOG1"]
        case 4:
            return [world.address_word(), "BALANCE", "POP", rng.randrange(7), "SLOAD", "POP"]
        case 5:
            return [world.address_word(), "SELFDESTRUCT"]
        case 6:
            return [0, 0, 0, 0, 1, world.address_word(), 30_000, "CALL", "POP"]
        case _:
            return _birth(world, salt=rng.randrange(2))


def _birth(world: World, *, salt: int) -> list[Word]:
    """Create a contract that destroys itself when it is called, and call it."""
    rng = world.rng
    heirs: list[Word] = ["ADDRESS", "CALLER", world.address_word()]
    heir = rng.choice(heirs)
    init = constructor(world, assemble([(heir, "SELFDESTRUCT")]))
    born: list[Word] = [*put(init, INIT_AT), salt, len(init), INIT_AT, *value_words(world)]
    born += ["CREATE2"]
    killed: list[Word] = [0, 0, 0, 0, rng.choice([0, 0, 1]), "DUP6", 60_000, "CALL", "POP"]
    return [*born, *(killed if rng.random() < 0.8 else []), "POP"]


def born_and_destroyed(world: World) -> Snippet:
    """A contract of one transaction: made, examined, destroyed, examined, and made again."""
    rng = world.rng
    heirs: list[Word] = ["ADDRESS", "ADDRESS", "CALLER", world.address_word()]
    heir = rng.choice(heirs)
    init = constructor(world, assemble([(heir, "SELFDESTRUCT")]))
    salt = rng.randrange(2)
    words: list[Word] = [*put(init, INIT_AT)]
    create: list[Word] = [salt, len(init), INIT_AT, rng.choice([0, 1, 5]), "CREATE2"]
    words += create
    for _ in range(rng.choice([1, 2, 2, 3])):
        if rng.random() < 0.7:
            value = rng.choice([0, 0, 1])
            words += [0, 0, 0, 0, value, "DUP6", 60_000, "CALL", *sink(world)]
        look = rng.choice(["BALANCE", "BALANCE", "EXTCODEHASH", "EXTCODESIZE"])
        words += ["DUP1", look, *sink(world)]
    words += [*create, *sink(world), "RETURNDATASIZE", *sink(world)] if rng.random() < 0.5 else []
    return (*words, *sink(world))


def undone(world: World) -> Snippet:
    """A call of itself that does something and fails, or not; then a look at what is left."""
    rng = world.rng
    kind = rng.choice(KINDS_OF_CALL)
    value: list[Word] = [rng.choice([0, 0, 1])] if kind in ("CALL", "CALLCODE") else []
    deeds = [word for _ in range(rng.choice([1, 1, 2])) for word in _deed(world)]
    end: list[Word] = rng.choice(ENDS)
    call: list[Word] = [0, 0, MARK, 0, *value, "ADDRESS", rng.choice([60_000, 200_000]), kind]
    look: list[Word] = []
    for _ in range(2):
        look += rng.choice([metered, transient_life, who])(world)
    before = _deed(world) if rng.random() < 0.3 else []
    return (
        *("CALLDATASIZE", MARK, "EQ", "@inner", "JUMPI"),
        *(*before, *call, *sink(world), *look, "@out", "JUMP"),
        *(":inner", *deeds, *end, ":out"),
    )


def looked_at_after_birth(world: World) -> Snippet:
    """What a creation returns to its creator: nothing if it went well."""
    rng = world.rng
    init = rng.choice(
        [
            constructor(world, b"\x00" * rng.choice([1, 40])),
            assemble([(40, 0, "RETURN")]),
            assemble([(40, 0, "REVERT")]),
            assemble([(0, 0, "RETURN")]),
        ]
    )
    create: list[Word] = [len(init), INIT_AT, rng.choice([0, 0, 1]), "CREATE"]
    words = [*put(init, INIT_AT), *create, *sink(world), "RETURNDATASIZE", *sink(world)]
    return (*words, "RETURNDATASIZE", 0, 0, "RETURNDATACOPY")


def write(world: World) -> Snippet:
    """One thing that a static call forbids."""
    rng = world.rng
    forbidden: list[list[Word]] = [
        [1, 0, "SSTORE"],
        [1, 0, "TSTORE"],
        [0, 0, "LOG0"],
        [1, 2, 3, 4, 0, 0, "LOG4"],
        [0, 0, 0, "CREATE", "POP"],
        [0, 0, 0, 0, "CREATE2", "POP"],
        [world.address_word(), "SELFDESTRUCT"],
        [0, 0, 0, 0, 1, world.address_word(), "GAS", "CALL", "POP"],
        [0, 0, 0, 0, 1, world.address_word(), "GAS", "CALL", "POP"],
        # This moves nothing, so it is allowed.
        [0, 0, 0, 0, 1, world.address_word(), "GAS", "CALLCODE", "POP"],
    ]
    if world.writers and rng.random() < 0.35:
        # By somebody else, who is as static as his caller.
        writer = int.from_bytes(rng.choice(world.writers), "big")
        kind = rng.choice(["CALL", "CALLCODE", "DELEGATECALL", "STATICCALL"])
        value: list[Word] = [0] if kind in ("CALL", "CALLCODE") else []
        return (0, 0, 0, 0, *value, writer, 60_000, kind, *sink(world))
    return tuple(rng.choice(forbidden))


MIRROR: Snippet = (
    *("CALLVALUE", 0, "MSTORE", "CALLER", 32, "MSTORE", "ADDRESS", 64, "MSTORE"),
    *("SELFBALANCE", 96, "MSTORE", "CALLDATASIZE", 128, "MSTORE", "CODESIZE", 160, "MSTORE"),
    *("ORIGIN", 192, "MSTORE", 0, "CALLDATALOAD", 224, "MSTORE", 256, 0, "RETURN"),
)


def mirrored(world: World) -> Snippet:
    """What a callee knows of itself, whatever kind of call it was."""
    rng = world.rng
    if not world.mirrors:
        return who(world)
    kind = rng.choice(KINDS_OF_CALL)
    value: list[Word] = [rng.choice([0, 1, 5])] if kind in ("CALL", "CALLCODE") else []
    mirror = int.from_bytes(rng.choice(world.mirrors), "big")
    size = rng.choice([256, 256, 100, 0, 300])
    return (
        *(size, 32 * rng.randrange(24), rng.choice([0, 5, 40]), 0),
        *(*value, mirror, 30_000, kind, *sink(world)),
    )


MISER: Snippet = (0, "SLOAD", "POP", 0, "SLOAD", 0, "SSTORE", 1, 2, "ADD", "POP", "STOP")
WARM_GAS_BEFORE_STORE = 208
"""What a miser spends before it writes, where its slot is warm."""


def miserly(world: World) -> Snippet:
    """A write with 2,300 gas is refused, and one with more is not (EIP-2200)."""
    rng = world.rng
    if not world.misers:
        return who(world)
    miser = int.from_bytes(rng.choice(world.misers), "big")
    words: list[Word] = [0, 0, 0, 0, 0, miser, 60_000, "CALL", *sink(world)]
    for _ in range(rng.randrange(1, 4)):
        kept = rng.choice([2_298, 2_299, 2_300, 2_301, 2_302, 2_310])
        stipend = rng.random() < 0.5
        gas = WARM_GAS_BEFORE_STORE + kept - (2_300 if stipend else 0)
        value = 1 if stipend else 0
        if gas >= 0:
            words += [0, 0, 0, 0, value, miser, gas, "CALL", *sink(world)]
    return tuple(words)


SCENARIOS = (
    *(miserly, who, mirrored, mirrored, metered, metered, transient_life, born_and_destroyed),
    *(undone, undone, looked_at_after_birth),
)
