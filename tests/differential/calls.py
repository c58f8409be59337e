"""Pieces of code that reach other accounts: calls of every kind, creations, self-destruction."""

from tests.differential.assembly import Snippet, Word, assemble, push
from tests.differential.precompile_inputs import COSTS, data_for, precompiles
from tests.differential.snippets import returned, sink
from tests.differential.world import World, created, length, number, offset

INIT_AT = 0x400
"""Where init code and the data of precompiles are put, after the cells of results."""


def gas_words(world: World) -> list[Word]:
    rng = world.rng
    chosen = rng.random()
    if chosen < 0.5:
        return [rng.choice([15_000, 40_000, 100_000, 200_000])]
    if chosen < 0.7:
        return [2, "GAS", "DIV"]
    if chosen < 0.82:
        return ["GAS"]
    if chosen < 0.9:
        return [rng.choice([0, 1, 2, 100, 700, 2_300, 2_301, 2_600, 5_000, rng.randrange(3_000)])]
    if chosen < 0.95:
        return [rng.randrange(1, 100), "GAS", "SUB"]
    return [rng.choice([1 << 32, 1 << 64, (1 << 256) - 1])]


def value_words(world: World) -> list[Word]:
    rng = world.rng
    chosen = rng.random()
    if chosen < 0.6:
        return [0]
    if chosen < 0.9:
        return [rng.choice([1, 1, 2, 7, 1_000])]
    if chosen < 0.95:
        return ["SELFBALANCE"]
    return [rng.choice([1 << 200, (1 << 256) - 1])]


def call_of(world: World, to: list[Word], given: list[Word], gas: list[Word]) -> list[Word]:
    """A call of any kind; `given` pushes the length and then the place of its data."""
    rng = world.rng
    kind = rng.choice(
        ["CALL", "CALL", "CALL", "STATICCALL", "STATICCALL", "DELEGATECALL", "CALLCODE"]
    )
    value = value_words(world) if kind in ("CALL", "CALLCODE") else []
    out: list[Word] = [length(rng) if rng.random() < 0.2 else 64, offset(rng)]
    return [*out, *given, *value, *to, *gas, kind]


def call(world: World) -> Snippet:
    rng = world.rng
    given: list[Word] = [length(rng), offset(rng)] if rng.random() < 0.5 else [32, 0]
    to = world.address_word()
    if world.viewers and rng.random() < 0.25:
        to = int.from_bytes(rng.choice(world.viewers), "big")
    words = call_of(world, [to], given, gas_words(world))
    words += sink(world)
    if rng.random() < 0.3:
        words += ["RETURNDATASIZE", *sink(world)]
    if rng.random() < 0.5:
        words += returned(world)
    return tuple(words)


def put(data: bytes, at: int) -> list[Word]:
    """Write bytes into memory, word by word."""
    words: list[Word] = []
    for begin in range(0, len(data), 32):
        chunk = data[begin : begin + 32].ljust(32, b"\x00")
        words += [int.from_bytes(chunk, "big"), at + begin, "MSTORE"]
    return words


def precompile_call(world: World) -> Snippet:
    rng = world.rng
    address = rng.choice(precompiles(world.fork))
    data = data_for(rng, address)
    gas: list[Word] = [COSTS[address] * 2 + 3_000] if rng.random() < 0.85 else gas_words(world)
    to = address if rng.random() < 0.97 else address | 1 << 200
    words = [*put(data, INIT_AT), *call_of(world, [to], [len(data), INIT_AT], gas)]
    return (*words, *sink(world), *returned(world))


def constructor(world: World, code: bytes) -> bytes:
    """Init code that leaves this code behind."""
    rng = world.rng
    before = b""
    chosen = rng.random()
    if chosen < 0.25:
        before = assemble([(rng.choice([1, 2, number(rng)]), rng.randrange(6), "SSTORE")])
    elif chosen < 0.35:
        before = assemble([(0, 0, "LOG0", "CALLVALUE", "CODESIZE", "CALLDATASIZE", "LOG1")])
    elif chosen < 0.42:
        before = assemble([(world.address_word(), "SELFDESTRUCT")])
    elif chosen < 0.5:
        before = assemble([(1, 0, "TSTORE", 5, 0, "SSTORE", 0, 0, "SSTORE")])
    size = len(code)
    fixed = 3 + 3 + 1 + 1 + 3 + 1 + 1
    return (
        before
        + push(size, 2)
        + push(len(before) + fixed, 2)
        + b"\x5f\x39"
        + push(size, 2)
        + b"\x5f\xf3"
        + code
    )


def deployed(world: World) -> bytes:
    """Small code that a creation leaves behind, or that it may not."""
    rng = world.rng
    match rng.randrange(9):
        case 0:
            return b""
        case 1:
            return bytes([0xEF]) + rng.randbytes(rng.choice([0, 1, 5, 22]))
        case 2:
            return b"\xef\x01\x00" + world.address()
        case 3 | 6:
            heirs: list[Word] = [world.address_word(), "ADDRESS", "CALLER"]
            heir = rng.choice(heirs)
            return assemble([(heir, "SELFDESTRUCT")])
        case 4:
            return assemble([(0, "SLOAD", 1, "ADD", "DUP1", 0, "SSTORE", 0, 0, "LOG1")])
        case 5:
            return rng.randbytes(rng.randrange(1, 60))
        case _:
            pass
    return assemble([("CALLER", 0, "MSTORE", 32, 0, "RETURN")])


def init_code(world: World) -> bytes:
    rng = world.rng
    match rng.randrange(12):
        case 0:
            return b""
        case 1:
            # Returns zeros, around the largest code that may be deployed.
            size = rng.choice([24_575, 24_576, 24_577, 1, 100])
            return assemble([(size, 0, "RETURN")])
        case 2:
            return assemble([(rng.randrange(70), 0, "REVERT")])
        case 3:
            return rng.choice([b"\xfe", b"\x01", b"\xef", b"\x5b\x60", b"\x60"])
        case 4:
            return rng.randbytes(rng.randrange(1, 50))
        case 5:
            return assemble([(world.address_word(), "SELFDESTRUCT")])
        case 6:
            # The constructor calls back, creates, or destroys itself by a callee.
            words = call_of(world, [world.address_word()], [0, 0], gas_words(world))
            return assemble([(*words, "POP", 1, 0, "SSTORE", 32, 0, "RETURN")])
        case _:
            pass
    return constructor(world, deployed(world))


def create(world: World) -> Snippet:
    """CREATE and CREATE2, the latter often twice, and then a call of what was made."""
    rng = world.rng
    kind = rng.choice(["CREATE", "CREATE2", "CREATE2"])
    salt: list[Word] = [rng.choice([0, 1, number(rng)])] if kind == "CREATE2" else []
    chosen = rng.random()
    words: list[Word]
    if chosen < 0.78 or not world.libraries:
        init = init_code(world)
        size, at = len(init), INIT_AT
        words = put(init, at)
    elif chosen < 0.93:
        library = int.from_bytes(rng.choice(world.libraries), "big")
        size, at = 0, INIT_AT
        words = [library, "EXTCODESIZE", 0, at, library, "EXTCODECOPY"]
        again = [*salt, library, "EXTCODESIZE", at, *value_words(world), kind]
        return (*words, *again, "DUP1", *sink(world), *after_create(world))
    else:
        # More init code than is allowed, or far away.
        size, at = rng.choice([49_152, 49_153, 70_000, length(rng)]), offset(rng)
        words = []
    made = [*salt, size, at, *value_words(world), kind]
    words += [*made, "DUP1", *sink(world), *after_create(world)]
    if rng.random() < 0.2:
        words += [*made, *sink(world)]
    return tuple(words)


def after_create(world: World) -> list[Word]:
    """What is done with the new account, whose address is on the stack."""
    rng = world.rng
    chosen = rng.random()
    if chosen < 0.35:
        return ["POP"]
    if chosen < 0.5:
        return [rng.choice(["EXTCODEHASH", "EXTCODESIZE", "BALANCE"]), *sink(world)]
    if chosen < 0.6:
        return ["POP", *returned(world)]
    # The address lies below the arguments, so it is duplicated from there.
    if rng.random() < 0.7:
        return [0, 0, 0, 0, rng.choice([0, 0, 1]), "DUP6", 40_000, "CALL", *sink(world), "POP"]
    kind = rng.choice(["DELEGATECALL", "STATICCALL"])
    return [0, 0, 0, 0, "DUP5", 40_000, kind, *sink(world), "POP"]


def destruct(world: World) -> Snippet:
    """Self-destruction, mostly only where a condition holds, for it ends the frame."""
    rng = world.rng
    chosen = rng.random()
    if chosen < 0.15:
        to: list[Word] = ["ADDRESS"]
    elif chosen < 0.3:
        to = ["CALLER"]
    elif chosen < 0.4:
        to = [int.from_bytes(created(world.self_address, 1), "big")]
    else:
        to = [world.address_word()]
    if rng.random() < 0.5:
        return (rng.randrange(3), "CALLDATALOAD", "@over", "JUMPI", *to, "SELFDESTRUCT", ":over")
    return (*to, "SELFDESTRUCT")


def starved_call(world: World) -> Snippet:
    """Calls of one account with less and less gas: it runs out at step after step."""
    rng = world.rng
    begin = rng.choice([300, 2_400, 5_000, 25_000])
    step = rng.choice([1, 3, 17, 100, 997])
    to = int.from_bytes(world.later(), "big")
    kind = rng.choice(["CALL", "STATICCALL", "DELEGATECALL"])
    value: list[Word] = [rng.choice([0, 0, 1])] if kind == "CALL" else []
    times = rng.choice([3, 6])
    return (
        *(times, ":again", 0, 0, 0, 0, *value, to),
        *(f"DUP{6 + len(value)}", step, "MUL", begin, "ADD", kind),
        *("DUP2", 32, "MUL", "MSTORE", 1, "SWAP1", "SUB", "DUP1", "@again", "JUMPI", "POP"),
    )


def gauntlet(world: World) -> Snippet:
    """Calls of all victims, each with enough gas for its opcode or with just too little."""
    rng = world.rng
    words: list[Word] = []
    for victim in world.victims:
        gas = rng.choice([100, 3_000, 60_000, rng.randrange(60), rng.randrange(60)])
        kind = rng.choice(["CALL", "CALL", "STATICCALL", "DELEGATECALL", "CALLCODE"])
        value: list[Word] = [0] if kind in ("CALL", "CALLCODE") else []
        words += [64, 0, 64, 0, *value, int.from_bytes(victim, "big"), gas, kind, *sink(world)]
    return tuple(words)
