"""Code that is made to cost the machine more than it pays: loops of one opcode, recursion, memory.

Each bomb is a program that spends all gas that it gets. A loop is unrolled as far as code may be
long, so that what is measured is the opcode and not the jump.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace
from tests.differential import precompile_inputs
from tests.differential.assembly import OPCODES, Opcode, Word, assemble
from tests.differential.calls import put
from tests.differential.snippets import called

CODE_BYTES_MAX = 24_576
INIT_BYTES_MAX = 49_152
HUGE = (1 << 256) - 1
OTHER = b"\x44" * 20


class Bomb(Struct, frozen=True):
    name: str
    code: bytes
    others: dict[bytes, bytes] = {}
    fork: str = "Prague"


def looped(body: list[Word], before: list[Word] | None = None, *, most: int = 20_000) -> bytes:
    """The body again and again until the gas is used up."""
    size = len(assemble([tuple(body)]))
    times = max(1, min(most, (CODE_BYTES_MAX - 1_500) // max(size, 1)))
    return assemble([(*(before or []), ":Again", *(body * times), "@Again", "JUMP")])


OPERANDS: dict[str, list[Word]] = {
    # From the first pushed to the last, where other numbers than the largest cost more.
    "ADDMOD": [HUGE - 2, HUGE, HUGE - 1],
    "MULMOD": [HUGE - 2, HUGE, HUGE - 1],
    "DIV": [(1 << 128) - 1, HUGE],
    "MOD": [(1 << 128) - 1, HUGE],
    "SDIV": [(1 << 128) - 1, 1 << 255],
    "SMOD": [(1 << 128) - 1, 1 << 255],
    "EXP": [HUGE, HUGE],
    "SIGNEXTEND": [HUGE >> 3, 15],
    "BYTE": [HUGE, 31],
    "SHL": [HUGE, 7],
    "SHR": [HUGE, 7],
    "SAR": [HUGE, 7],
    "BLOCKHASH": [299],
    "BLOBHASH": [0],
    "JUMPI": [0, 0],
    "KECCAK256": [136, 0],
    "MLOAD": [1],
    "MSTORE": [HUGE, 1],
    "MSTORE8": [HUGE, 1],
    "MCOPY": [1_024, 0, 1],
    "CALLDATALOAD": [0],
    "CALLDATACOPY": [1_024, 0, 1],
    "CODECOPY": [1_024, 0, 1],
    "EXTCODECOPY": [1_024, 0, 1, "ADDRESS"],
    "RETURNDATACOPY": [0, 0, 0],
    "SLOAD": ["GAS"],
    "SSTORE": [1, "GAS"],
    "TLOAD": ["GAS"],
    "TSTORE": [1, "GAS"],
    "BALANCE": ["GAS"],
    "EXTCODESIZE": ["GAS"],
    "EXTCODEHASH": ["GAS"],
    "CREATE": [0, 0, 0],
    "CREATE2": ["GAS", 0, 0, 0],
    "CALL": [0, 0, 0, 0, 0, "GAS", 0],
    "CALLCODE": [0, 0, 0, 0, 0, "GAS", 0],
    "DELEGATECALL": [0, 0, 0, 0, "GAS", 0],
    "STATICCALL": [0, 0, 0, 0, "GAS", 0],
}
ENDS = {"STOP", "RETURN", "REVERT", "INVALID", "SELFDESTRUCT", "JUMP"}


def opcode_bombs(fork: str = "Osaka") -> Iterator[Bomb]:
    """One for each opcode that a frame survives."""
    for opcode in OPCODES.values():
        if opcode.name not in ENDS:
            yield Bomb(opcode.name, _opcode_loop(opcode), fork=fork)


def _opcode_loop(opcode: Opcode) -> bytes:
    name = opcode.name
    if name[:3] == "DUP":
        return looped([name, "POP"], [HUGE] * opcode.takes)
    if name[:4] == "SWAP":
        return looped([name], [HUGE] * opcode.takes)
    if name[:3] == "LOG":
        given: list[Word] = [*([HUGE] * (opcode.takes - 2)), 0, 0]
    else:
        given = OPERANDS.get(name, [HUGE] * opcode.takes)
    after: list[Word] = ["POP"] * opcode.gives
    before: list[Word] = [1, 4_096, "MSTORE"]
    return looped([*given, called(name), *after], before)


def precompile_bombs(fork: str = "Osaka") -> Iterator[Bomb]:
    """Calls of each precompile with an input that it takes."""
    for address, data in PRECOMPILE_DATA.items():
        for index, one in enumerate(data):
            call: list[Word] = [0, 0, len(one), 0, address, "GAS", "STATICCALL", "POP"]
            name = f"precompile {address}" + (f" input {index}" if index else "")
            yield Bomb(name, looped(call, put(one, 0)), fork=fork)


def _pieces() -> dict[int, list[bytes]]:
    words, made = precompile_inputs.words, precompile_inputs
    g1, g2 = made.BLS_G1[0], made.BLS_G2[0]
    bn_pair = made.BN_G1[0] + made.BN_G2[0] + made.BN_G1[1] + made.BN_G2[0]
    scalar = words(made.BLS_ORDER - 1)
    odd = b"\xff" * 31 + b"\xfd"
    return {
        1: [bytes.fromhex("11" * 32) + words(28) + made.P256[0][32:96]],
        2: [b"", b"\xaa" * 1_024],
        3: [b"", b"\xaa" * 1_024],
        4: [b"", b"\xaa" * 1_024],
        5: [
            words(32, 32, 32) + odd * 3,
            words(8, 8, 8) + b"\xff" * 24,
            words(256, 1, 256) + b"\xff" * 256 + b"\x03" + odd * 8,
            words(1, 128, 1) + b"\xff" * 130,
        ],
        6: [made.BN_G1[0] + made.BN_G1[2]],
        7: [made.BN_G1[2] + words(made.BN_ORDER - 1)],
        8: [b"", bn_pair, bn_pair * 3],
        9: [words(1, size=4) + bytes(208) + b"\x01", words(100_000, size=4) + bytes(208) + b"\x01"],
        10: [_kzg()],
        11: [g1 + made.BLS_G1[1]],
        12: [g1 + scalar, (g1 + scalar) * 8],
        13: [g2 + made.BLS_G2[1]],
        14: [g2 + scalar, (g2 + scalar) * 4],
        15: [g1 + g2, (g1 + g2) * 4],
        16: [words(7, size=64)],
        17: [words(7, 9, size=64)],
        256: [made.P256[0]],
    }


def _kzg() -> bytes:
    from hashlib import sha256

    made = precompile_inputs
    versioned = b"\x01" + sha256(made.KZG_OF_X).digest()[1:]
    return versioned + made.words(5, 5) + made.KZG_OF_X + made.G1_SHORT


PRECOMPILE_DATA = _pieces()


def _recursions() -> Iterator[Bomb]:
    for kind in ("CALL", "DELEGATECALL", "STATICCALL", "CALLCODE"):
        value: list[Word] = [0] if kind in ("CALL", "CALLCODE") else []
        call: list[Word] = [0, 0, 0, 0, *value, "ADDRESS", "GAS", kind, "POP"]
        yield Bomb(f"recursion by {kind}", assemble([tuple(call)]))
        yield Bomb(f"tree of {kind}", assemble([tuple(call * 50)]))
    out: list[Word] = [32_000, 0, 32_000, 0, 0, "ADDRESS", "GAS", "CALL", "POP"]
    yield Bomb("recursion with memory", assemble([(*out, *out)]))
    copy: list[Word] = ["CODESIZE", 0, 0, "CODECOPY", "CODESIZE", 0, 0, "CREATE", "POP"]
    yield Bomb("nested creations", assemble([(*copy, *copy[4:])]))
    far = int.from_bytes(OTHER, "big")
    ping: list[Word] = [0, 0, 0, 0, 1, far, "GAS", "CALL", "POP"]
    back: list[Word] = [0, 0, 0, 0, 0, "CALLER", "GAS", "CALL", "POP"]
    yield Bomb("ping and pong", assemble([tuple(ping)]), {OTHER: assemble([tuple(back)])})
    writes: list[Word] = [1, "GAS", "SSTORE"]
    rolled = assemble([(*(writes * 20), 0, 0, "REVERT")])
    yield Bomb(
        "writes that are rolled back",
        looped([0, 0, 0, 0, 0, far, 600_000, "CALL", "POP"]),
        {OTHER: rolled},
    )


def _memory() -> Iterator[Bomb]:
    # 3.8 MB is what 30 M gas buys in one frame.
    yield Bomb("one large memory", looped([HUGE, "MSIZE", "MSTORE"]))
    yield Bomb("hashes of large memory", looped([100_000, 0, "KECCAK256", "POP"]))
    yield Bomb("copies of large memory", looped([100_000, 0, 1, "MCOPY"]))
    yield Bomb("copies of beyond the code", looped([100_000, HUGE, 0, "CODECOPY"]))
    yield Bomb("large logs", looped([100_000, 0, "LOG0"]))
    fresh = assemble([(1, 500_000, "MSTORE")])
    far = int.from_bytes(OTHER, "big")
    call: list[Word] = [0, 0, 0, 0, far, 700_000, "STATICCALL", "POP"]
    yield Bomb("fresh memory in each call", looped(call), {OTHER: fresh})
    give = assemble([(500_000, 0, "RETURN")])
    take: list[Word] = [*call, "RETURNDATASIZE", 0, 0, "RETURNDATACOPY"]
    yield Bomb("large answers", looped(take), {OTHER: give})
    identity: list[Word] = [100_000, 0, 100_000, 0, 4, "GAS", "STATICCALL", "POP"]
    yield Bomb("large copies by the identity", looped(identity))


FIRST_BYTES = 5
"""A PUSH4 before each code of these: what it pushes makes the code another one."""
JUMP_BYTES = 5
LAST = bytes(33) + b"\x5b\x00"
"""No push reaches over these zeros, so what follows is a destination whatever comes before."""


def far_jump(filling: bytes, copies: int) -> bytes:
    """Code that follows a PUSH4, so many times: it jumps over all of it, which is when its jump
    destinations are looked for."""
    size = CODE_BYTES_MAX - FIRST_BYTES
    to = FIRST_BYTES + copies * size - 2
    jump = b"\x50\x61" + to.to_bytes(2, "big") + b"\x56"
    return (jump + filling * CODE_BYTES_MAX)[: size - len(LAST)] + LAST


def ladder(first: int) -> bytes:
    """A jump to each block, the first of which stands here."""
    places = range(first + JUMP_BYTES, CODE_BYTES_MAX - 8, JUMP_BYTES)
    return b"\x5b" + bytes.fromhex("".join(f"61{at:04x}565b" for at in places))


def created(body: bytes) -> Bomb:
    """Creations from twice this code, none from the code of another one: the gas that is left
    stands in its first push."""
    far, half = int.from_bytes(OTHER, "big"), len(body)
    before: list[Word] = [half, 0, 32, far, "EXTCODECOPY"]
    before += [half, 0, 32 + half, far, "EXTCODECOPY"]
    change: list[Word] = ["GAS", 0x63 << 32, "OR", 0, "MSTORE"]
    create: list[Word] = [*change, FIRST_BYTES + 2 * half, 27, 0, "CREATE", "POP"]
    return Bomb("", looped(create, before), {OTHER: body})


def _analysis() -> Iterator[Bomb]:
    far = int.from_bytes(OTHER, "big")
    call: list[Word] = [0, 0, 0, 0, far, "GAS", "STATICCALL", "POP"]
    for name, filling in (
        ("jump destinations", b"\x5b"),
        ("pushes", b"\x7f"),
        ("pushed jump destinations", b"\x60\x5b"),
        ("pushes of one byte and one", b"\x60\x5b\x5b"),
    ):
        code = b"\x63" * FIRST_BYTES + far_jump(filling, 1)
        yield Bomb(f"calls of code full of {name}", looped(call), {OTHER: code})
        yield replace(created(far_jump(filling, 2)), name=f"creations from {name}")
    yield replace(created(ladder(FIRST_BYTES) + b"\x00"), name="creations from many jumps")
    yield Bomb("jumps from end to end", b"\x5b" * (CODE_BYTES_MAX - 3) + b"\x5f\x56\x00")
    yield Bomb("a jump to each block", ladder(0) + b"\x5f\x56")
    yield Bomb("one long block", looped(["@Again", "POP"]))


SHIFTED = 10
LOOP_AT = 8
"""Where a dispatcher's loop begins."""
WAYS = 24
"""Branches one after the other: more ways through them than a block's gas can take."""
MANY = 400
"""About as many codes as all gas of a block calls, each of them for the first time."""


def _compilation() -> Iterator[Bomb]:
    """Many codes whose every block is worth as much text as a block can be, each reached once by a
    jump that nobody can foresee. Each is called often enough to be hot, the last time with work."""
    body = b"\x5b\x5f" + b"\x80\x51\x50" * 84 + b"\x50"
    first, step, others = int.from_bytes(OTHER, "big"), len(body) + 4, {}
    for index in range(MANY):
        head = _dispatcher(index, step, 0)
        head = _dispatcher(index, step, len(head))
        block = body + b"\x61" + LOOP_AT.to_bytes(2, "big") + b"\x56"
        count = (CODE_BYTES_MAX - len(head)) // step
        others[(first + index).to_bytes(20, "big")] = head + block * count
    quick: list[Word] = [0, 0, 0, 0, "DUP5", "GAS", "STATICCALL", "POP"]
    slow: list[Word] = [0, 0, 32, 0, "DUP5", "GAS", "STATICCALL", "POP"]
    loop: list[Word] = [*(quick * 5), *slow, 1, "ADD"]
    code = assemble([(count, 0, "MSTORE", first, ":Again", *loop, "@Again", "JUMP")])
    yield Bomb("many codes that are compiled", code, others)
    # A loop whose length is no multiple of a function's: each round begins at other places.
    loops = {
        (first + index).to_bytes(20, "big"): looped([0, "POP"], [f"PUSH4 {index}", "POP"])
        for index in range(SHIFTED)
    }
    once: list[Word] = [0, 0, 0, 0, "DUP5", 2_900_000, "STATICCALL", "POP", 1, "ADD"]
    code = assemble([(first, ":Again", *once, "@Again", "JUMP")])
    yield Bomb("loops that are cut at other places in each round", code, loops)


def _ways() -> Iterator[Bomb]:
    """Each call takes another way through the same branches: each is a function of its own."""
    first, others = int.from_bytes(OTHER, "big"), {}
    calls: list[Word] = []
    for index in range(SHIFTED):
        branches: list[Word] = [f"PUSH4 {index}", "POP"]
        for bit in range(WAYS):
            branches += [0, "CALLDATALOAD", bit, "SHR", 1, "AND", f"@to{bit}", "JUMPI"]
            branches += [0, "MLOAD", 1, "ADD", 0, "MSTORE", f":to{bit}"]
        others[(first + index).to_bytes(20, "big")] = assemble([tuple(branches)])
        calls += [0, 0, 32, 0, first + index, "GAS", "STATICCALL", "POP"]
    # An odd factor goes through all numbers, and changes many bits each time.
    step: list[Word] = [0, "MLOAD", 0x9E3779B1, "MUL", 1, "ADD", 0, "MSTORE"]
    yield Bomb("ways that are each taken once", looped([*step, *calls]), others)


def _dispatcher(index: int, step: int, base: int) -> bytes:
    """Visit as many blocks as the data says, from the last to the first."""
    return assemble(
        [
            (
                f"PUSH4 {index}",
                "POP",
                0,
                "CALLDATALOAD",
                ":Loop",
                "DUP1",
                "ISZERO",
                "@End",
                "JUMPI",
            ),
            (1, "SWAP1", "SUB", "DUP1", f"PUSH2 {step}", "MUL", f"PUSH2 {base}", "ADD", "JUMP"),
            (":End", "STOP"),
        ]
    )


FAMILIES: tuple[Callable[[], Iterator[Bomb]], ...] = (
    _recursions,
    _memory,
    _analysis,
    _compilation,
    _ways,
)


def bombs() -> list[Bomb]:
    """The large ones, which all gas of a block is given to."""
    return [bomb for family in FAMILIES for bomb in family()]
