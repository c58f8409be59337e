"""Whole programs: a chain of snippets and an end by which results are seen."""

from collections.abc import Callable

from tests.differential import calls, scenarios, snippets
from tests.differential.assembly import Snippet
from tests.differential.snippets import CELLS
from tests.differential.world import World, length, offset

Program = tuple[Snippet, ...]

KINDS: list[tuple[float, Callable[[World], Snippet]]] = [
    (0.45, lambda world: world.rng.choice(snippets.PLAIN)(world)),
    (0.58, lambda world: world.rng.choice(scenarios.SCENARIOS)(world)),
    (0.72, calls.call),
    (0.78, calls.precompile_call),
    (0.85, calls.create),
    (0.94, snippets.branch),
    (0.96, calls.starved_call),
    (0.985, calls.destruct),
    (1.0, lambda world: world.rng.choice(snippets.RUINOUS)(world)),
]


def snippet(world: World) -> Snippet:
    chosen = world.rng.random()
    return next(make for share, make in KINDS if chosen < share)(world)


def ending(world: World) -> Snippet:
    """What shows the words in memory: returned, hashed and stored, logged."""
    rng = world.rng
    size = 32 * CELLS
    digest = ("MSIZE", 0, "KECCAK256", rng.randrange(snippets.SLOTS), "SSTORE")
    match rng.randrange(26):
        case 0:
            return (length(rng), offset(rng), rng.choice(["RETURN", "REVERT"]))
        case 1 | 2:
            return (size, 0, "REVERT")
        case 3:
            return ("INVALID",)
        case 4 | 5:
            return (size, 0, "LOG0")
        case 6:
            return (rng.choice([b"\x60", b"\x7f\x01\x02", b"\x61\x5b", b"\x5b"]),)
        case 7:
            return ()
        case 8 | 9 | 10 | 11:
            return (*digest, "STOP")
        case 12 | 13:
            return (*digest, size, 0, "RETURN")
        case _:
            pass
    return (size, 0, "RETURN")


def ordinary(world: World) -> Program:
    rng = world.rng
    made = [snippet(world) for _ in range(rng.choice([1, 2, 3, 5, 8, 12]))]
    if rng.random() < 0.3:
        made.insert(0, scenarios.who(world))
    if world.victims and rng.random() < 0.4:
        made.insert(rng.randrange(len(made)), calls.gauntlet(world))
    return (*made, ending(world))


def ruined(world: World) -> Program:
    """A short program that fails at once, for others to call."""
    rng = world.rng
    before = [snippet(world)] if rng.random() < 0.4 else []
    return (*before, rng.choice(snippets.RUINOUS)(world), ending(world))


def victim(world: World) -> Program:
    """One opcode that goes well or not, and that is all."""
    return (world.rng.choice(snippets.RUINOUS)(world),)


def viewer(world: World) -> Program:
    """Writes nothing, or one thing alone: for static calls."""
    rng = world.rng
    world.is_quiet = True
    made = [rng.choice(snippets.READING)(world) for _ in range(rng.randrange(1, 5))]
    made.insert(0, scenarios.who(world))
    if rng.random() < 0.5:
        made.append(calls.call(world))
    world.is_quiet = False
    if rng.random() < 0.7:
        made.insert(rng.randrange(len(made) + 1), scenarios.write(world))
    return (*made, (32 * CELLS, 0, "RETURN"))


def refunded(world: World) -> Program:
    """Storage again and again, with calls of itself by others between."""
    return (*(snippets.storage(world) for _ in range(world.rng.randrange(2, 6))), ending(world))


def deep(world: World) -> Program:
    """Calls itself as deep as it goes, and returns how deep that was."""
    kind = world.rng.choice(["CALL", "DELEGATECALL", "STATICCALL", "CALLCODE"])
    value = (0,) if kind in ("CALL", "CALLCODE") else ()
    return (
        (32, 0, 0, 0, *value, "ADDRESS", "GAS", kind, "POP"),
        (0, "MLOAD", 1, "ADD", 0, "MSTORE", 32, 0, "RETURN"),
    )


def nest(world: World) -> Program:
    """Each constructor creates the next from its own code, as deep as it goes."""
    kind = world.rng.choice(["CREATE", "CREATE2"])
    salt = (0,) if kind == "CREATE2" else ()
    copy = ("CODESIZE", 0, 0, "CODECOPY")
    return ((*copy, *salt, "CODESIZE", 0, 0, kind, 0, "SSTORE"),)


def chaos(world: World) -> Program:
    """Bytes by chance, of which most fail soon."""
    return ((world.rng.randbytes(world.rng.randrange(1, 200)),),)


def program(world: World) -> Program:
    chosen = world.rng.random()
    for share, make in (
        (0.7, ordinary),
        (0.84, viewer),
        (0.9, ruined),
        (0.97, refunded),
        (0.985, deep),
    ):
        if chosen < share:
            return make(world)
    return nest(world) if chosen < 0.993 else chaos(world)
