"""Pieces of code that begin and end with an empty stack: computing, copying, storing, jumping.

What a piece finds out is put where it is seen afterwards: into memory, whose hash is stored at
the end, into storage, transient storage or a log.
"""

from collections.abc import Callable

from tests.differential.assembly import OPCODES, Snippet, Word, opcodes
from tests.differential.world import World, length, number, offset, small

CELLS = 32
"""Words of memory in which results are kept, from address 0 on."""
SLOTS = 6
"""Keys of storage that generated code uses, and that accounts begin with."""

ARITHMETIC = [
    *("ADD", "MUL", "SUB", "DIV", "SDIV", "MOD", "SMOD", "ADDMOD", "MULMOD", "EXP", "SIGNEXTEND"),
    *("LT", "GT", "SLT", "SGT", "EQ", "ISZERO", "AND", "OR", "XOR", "NOT", "BYTE", "SHL", "SHR"),
    *("SAR", "CLZ"),
]
SHIFTS = ("SHL", "SHR", "SAR", "BYTE", "SIGNEXTEND")
SIGNED = [
    *(0, 1, 0x80, 0x7F, 0x8000, (1 << 255) - 1, 1 << 255, (1 << 255) + 1, (1 << 256) - 1),
    *((1 << 254) - 1, 1 << 254, 0xFF << 248, 0x80 << 240, int("80" * 32, 16), int("7f" * 32, 16)),
]
NO_OPERANDS = [
    *("ADDRESS", "ORIGIN", "CALLER", "CALLVALUE", "CALLDATASIZE", "CODESIZE", "GASPRICE"),
    *("RETURNDATASIZE", "COINBASE", "TIMESTAMP", "NUMBER", "PREVRANDAO", "GASLIMIT", "CHAINID"),
    *("SELFBALANCE", "BASEFEE", "BLOBBASEFEE", "PC", "MSIZE", "GAS"),
]


def sink(world: World) -> list[Word]:
    """Put the word on top of the stack where it can be seen."""
    rng = world.rng
    chosen = 0.0 if world.is_quiet else rng.random()
    if chosen < 0.8:
        return [32 * rng.randrange(CELLS), "MSTORE"]
    if chosen < 0.84:
        return [rng.randrange(SLOTS), "SSTORE"]
    if chosen < 0.9:
        return [rng.randrange(4), "TSTORE"]
    if chosen < 0.95:
        return [0, 0, "LOG1"]
    return ["POP"]


def source(world: World) -> list[Word]:
    """Put a word on the stack."""
    rng = world.rng
    chosen = rng.random()
    if chosen < 0.7:
        return [number(rng)]
    if chosen < 0.8:
        return [32 * rng.randrange(CELLS), "MLOAD"]
    if chosen < 0.87:
        return [offset(rng), "CALLDATALOAD"]
    if chosen < 0.92:
        return [rng.randrange(SLOTS), "SLOAD"]
    if chosen < 0.96:
        return [f"PUSH{rng.randrange(20, 33)} {rng.getrandbits(rng.choice([8, 64, 160]))}"]
    return [rng.choice(NO_OPERANDS)]


def arithmetic(world: World) -> Snippet:
    rng = world.rng
    known = ARITHMETIC[:-1] if world.fork in ("Cancun", "Prague") else ARITHMETIC
    words: list[Word] = source(world)
    for _ in range(rng.choice([1, 2, 4, 7])):
        name = rng.choice(known)
        for _ in range(OPCODES[name].takes - 1):
            words += source(world)
        if name in SHIFTS and rng.random() < 0.7:
            shifts = [0, 1, 8, 30, 31, 32, 254, 255, 256, 257, 1 << 255, (1 << 256) - 1]
            words += [rng.choice(SIGNED), rng.choice(shifts), name, *sink(world)]
            continue
        if name == "EXP":
            # A long exponent costs 50 for each byte, and time.
            words += [rng.choice([0, 1, 2, 3, 255, 1 << 128, (1 << 256) - 1]), "SWAP1"]
            words += [name, *sink(world), number(rng)]
            continue
        if rng.random() < 0.3:
            words += ["SWAP1"] if OPCODES[name].takes == 2 else []
        words += [name]
    return tuple(words + sink(world))


def environment(world: World) -> Snippet:
    rng = world.rng
    words: list[Word] = []
    for _ in range(rng.choice([1, 3, 5])):
        match rng.randrange(8):
            case 0:
                words += [world.address_word(), "BALANCE"]
            case 1:
                words += [world.address_word(), rng.choice(["EXTCODESIZE", "EXTCODEHASH"])]
            case 2:
                back = rng.choice([-1, 0, 1, 2, 3, 255, 256, 257, 300])
                words += [back % (1 << 256), "NUMBER", "SUB", "BLOCKHASH"]
            case 3:
                words += [number(rng), "BLOCKHASH"]
            case 4:
                words += [rng.choice([0, 1, 2, 5, 6, 1 << 64, (1 << 256) - 1]), "BLOBHASH"]
            case _:
                words += [rng.choice(NO_OPERANDS)]
        words += sink(world)
    return tuple(words)


def memory(world: World) -> Snippet:
    rng = world.rng
    match rng.randrange(7):
        case 0:
            return (*source(world), offset(rng), rng.choice(["MSTORE", "MSTORE8"]))
        case 1:
            return (offset(rng), "MLOAD", *sink(world))
        case 2:
            at = offset(rng)
            near = [at, max(0, at - 1), at + 1, at + 31, at + 32, max(0, at - 33), offset(rng)]
            if rng.random() < 0.4:
                # From beyond the end of memory, which then grows.
                return (length(rng), "MSIZE", rng.choice(near) % (1 << 256), "MCOPY", "MSIZE",
                        *sink(world))  # fmt: skip
            return (length(rng), at, rng.choice(near) % (1 << 256), "MCOPY")
        case 3:
            return (length(rng), offset(rng), "KECCAK256", *sink(world))
        case 4:
            copy = rng.choice(["CALLDATACOPY", "CODECOPY"])
            return (length(rng), offset(rng), offset(rng), copy)
        case 5:
            words = (length(rng), offset(rng), offset(rng), world.address_word())
            return (*words, "EXTCODECOPY")
        case _:
            pass
    return returned(world)


def returned(world: World) -> Snippet:
    """Data that the last call returned; beyond its end all gas is lost."""
    rng = world.rng
    if rng.random() < 0.94:
        return ("RETURNDATASIZE", 0, 32 * rng.randrange(CELLS), "RETURNDATACOPY")
    if rng.random() < 0.6:
        # One byte too many, or none at the very end, which is allowed.
        more = rng.choice([0, 1])
        return (more, "RETURNDATASIZE", offset(rng), "RETURNDATACOPY")
    return (length(rng), offset(rng), offset(rng), "RETURNDATACOPY")


def storage(world: World) -> Snippet:
    """Writes to one slot, one after the other: every pair of old and new, and each refund."""
    rng = world.rng
    slot = rng.randrange(SLOTS) if rng.random() < 0.95 else number(rng)
    words: list[Word] = []
    for _ in range(rng.choice([1, 1, 2, 3, 4])):
        if rng.random() < 0.25:
            words += [slot, "SLOAD", *sink(world)]
        words += [rng.choice([0, 0, 1, 2, 3, number(rng)]), slot, "SSTORE"]
    return tuple(words)


def transient(world: World) -> Snippet:
    rng = world.rng
    slot = rng.choice([0, 1, 2, 3, (1 << 256) - 1])
    if rng.random() < 0.5:
        return (*source(world), slot, "TSTORE")
    return (slot, "TLOAD", *sink(world))


def log(world: World) -> Snippet:
    rng = world.rng
    topics = rng.randrange(5)
    words: list[Word] = []
    for _ in range(topics):
        words += source(world)
    return (*words, length(rng), offset(rng), f"LOG{topics}")


def stack(world: World) -> Snippet:
    """Deep duplicates and swaps over a known heap of words, which is then folded into one."""
    rng = world.rng
    depth = rng.randrange(2, 18)
    words: list[Word] = []
    for _ in range(depth):
        words += [number(rng)]
    for _ in range(rng.randrange(2, 12)):
        if rng.random() < 0.5 and depth < 17:
            words += [f"DUP{rng.randrange(1, min(depth, 16) + 1)}"]
            depth += 1
        elif depth > 1:
            words += [f"SWAP{rng.randrange(1, min(depth - 1, 16) + 1)}"]
    words += [rng.choice(["XOR", "ADD", "SUB"]) for _ in range(depth - 1)]
    return tuple(words + sink(world))


def wide_push(world: World) -> Snippet:
    words: list[Word] = []
    for _ in range(world.rng.randrange(1, 6)):
        size = world.rng.randrange(1, 33)
        words += [f"PUSH{size} {world.rng.getrandbits(8 * size)}", *sink(world)]
    return tuple(words)


def branch(world: World) -> Snippet:
    rng = world.rng
    inner = rng.choice(PLAIN)(world)
    match rng.randrange(8):
        case 0:
            # By what is left of the gas.
            return ("GAS", rng.choice([100, 1_000, 20_000, 60_000]), "LT", "@over", "JUMPI",
                    *inner, ":over")  # fmt: skip
        case 1:
            return (*source(world), "@over", "JUMPI", *inner, ":over")
        case 2:
            return ("@over", "JUMP", bytes([rng.randrange(256)]), ":over")
        case 3:
            times = rng.choice([1, 2, 3, 10])
            return (times, ":again", *inner, 1, "SWAP1", "SUB", "DUP1", "@again", "JUMPI", "POP")
        case 4:
            return guard(world)
        case 5:
            return function(world)
        case 6:
            return carried(world)
        case _:
            # A destination that is computed.
            return (number(rng), "DUP1", "SWAP1", "XOR", "@over", "ADD", "JUMP", ":over")


def guard(world: World) -> Snippet:
    """A requirement as compilers write it: over the revert if it holds."""
    rng = world.rng
    ways: list[Snippet] = [
        (0, 0, "REVERT"),
        (0, "DUP1", "REVERT"),
        ("PUSH1 0", "DUP1", "REVERT"),
        ("INVALID",),
        (4, 0, "REVERT"),
    ]
    holds: list[Word] = [1] if rng.random() < 0.5 else [*source(world), rng.randrange(2), "OR"]
    if rng.random() < 0.1:
        holds = source(world)
    return (*source(world), *holds, "@over", "JUMPI", *rng.choice(ways), ":over", *sink(world))


def function(world: World) -> Snippet:
    """A routine that is jumped to from two places, each with its own way back."""
    rng = world.rng
    body: list[Word] = ["DUP1", rng.choice(["ADD", "MUL", "XOR"]), rng.choice(["NOT", "ISZERO"])]
    return (
        *("@one", number(rng), "@routine", "JUMP", ":one", *sink(world)),
        *("@two", *source(world), "@routine", "JUMP", ":two", *sink(world)),
        *("@over", "JUMP", ":routine", *body, "SWAP1", "JUMP", ":over"),
    )


def carried(world: World) -> Snippet:
    """A loop whose words move on the stack from round to round."""
    rng = world.rng
    step: list[Word] = rng.choice([["DUP2", "ADD", "SWAP1"], ["SWAP1", "DUP2", "XOR"], ["SWAP1"]])
    exits: list[Word] = []
    if rng.random() < 0.4:
        exits = ["DUP1", rng.choice([255, 7, 1]), "AND", "ISZERO", "@out", "JUMPI"]
    return (
        *(number(rng), number(rng), rng.choice([1, 2, 7, 40]), ":again"),
        *("SWAP2", "SWAP1", *step, *exits, "SWAP2"),
        *(1, "SWAP1", "SUB", "DUP1", "@again", "JUMPI"),
        *(":out", *sink(world), *sink(world), *sink(world)),
    )


def long_line(world: World) -> Snippet:
    """More opcodes in a line than one compiled function holds; its ways out put many words back."""
    rng = world.rng
    words: list[Word] = [number(rng) for _ in range(8)]
    for at in range(rng.choice([40, 100])):
        words += [rng.choice(["DUP8", "DUP3", "CALLER"]), rng.choice(["ADD", "XOR"])]
        words += [f"SWAP{rng.randrange(1, 8)}"]
        if at % 10 == 9:
            words += ["DUP1", f"@over{at}", "JUMPI", "CALLVALUE", "ADD", f":over{at}"]
    return (*words, *(["XOR"] * 7), *sink(world))


def bad_jump(world: World) -> Snippet:
    rng = world.rng
    jump: list[Word] = ["JUMP"] if rng.random() < 0.6 else [1, "SWAP1", "JUMPI"]
    match rng.randrange(4):
        case 0:
            # Into what a push carries, where the byte is that of a JUMPDEST.
            return ("@in", 1, "ADD", *jump, ".in", "PUSH2 0x5b5b", "POP")
        case 1:
            return (number(rng), *jump)
        case 2:
            return ("@to", *jump, ".to", "PUSH1 0", "POP")
        case _:
            pass
    # No jump is taken, so it does not matter where it leads.
    return (0, number(rng), "JUMPI")


def undefined(world: World) -> Snippet:
    known = {one.byte for one in opcodes(world.fork)}
    unknown = [byte for byte in range(256) if byte not in known]
    return (bytes([world.rng.choice([*unknown, 0x1E if 0x1E in unknown else 0xFE, 0xFE])]),)


def too_few(world: World) -> Snippet:
    """An opcode with less on the stack than it takes."""
    rng = world.rng
    opcode = rng.choice([one for one in opcodes(world.fork) if one.takes])
    held = rng.randrange(opcode.takes)
    return (*(small(rng) for _ in range(held)), opcode.name)


def too_many(world: World) -> Snippet:
    """A full stack, or nearly, and an opcode that adds to it."""
    rng = world.rng
    opcode = rng.choice([one for one in opcodes(world.fork) if one.gives > one.takes])
    full = 1_024 - rng.choice([0, 0, 0, 1, 2])
    return (b"\x5f" * full, called(opcode.name), "POP", "STOP")


def called(name: str) -> str:
    """The opcode as a word of a snippet: one that pushes carries something."""
    return f"{name} 1" if name[:4] == "PUSH" and name != "PUSH0" else name


def exact(world: World) -> Snippet:
    """Any opcode with just what it takes, whatever it leads to; what it leaves is dropped."""
    rng = world.rng
    opcode = rng.choice(
        [one for one in opcodes(world.fork) if one.name not in ("JUMP", "JUMPI", "STOP")]
    )
    words: list[Word] = []
    for _ in range(opcode.takes):
        words += [small(rng) if rng.random() < 0.6 else number(rng)]
    return (*words, called(opcode.name), *("POP" for _ in range(opcode.gives)))


def soup(world: World) -> Snippet:
    """Bytes by chance."""
    rng = world.rng
    return (rng.randbytes(rng.randrange(1, 40)),)


READING: list[Callable[[World], Snippet]] = [
    *(arithmetic, environment, memory, stack, wide_push, guard, function, carried),
]
"""Pieces that write nothing but memory, as long as the world is quiet."""

PLAIN: list[Callable[[World], Snippet]] = [
    *(arithmetic, arithmetic, arithmetic, environment, environment, memory, memory, storage),
    *(storage, transient, log, stack, wide_push, guard, function, carried, long_line),
]
"""Pieces that mostly go well."""

RUINOUS: list[Callable[[World], Snippet]] = [
    *(bad_jump, undefined, too_few, too_few, too_many, too_many, exact, exact, exact, soup),
]
"""Pieces that mostly end a frame."""
