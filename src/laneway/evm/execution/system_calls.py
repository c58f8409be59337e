"""What a block does beside its transactions: calls to system contracts before and after them, and
the requests that it hands to the consensus layer."""

from collections.abc import Iterable
from hashlib import sha256

from laneway.evm.execution.block import EvmExecution
from laneway.evm.fork import Fork
from laneway.evm.header import Withdrawal
from laneway.evm.keccak import keccak
from laneway.evm.machine.calls import execute
from laneway.evm.machine.frame import CallFrame
from laneway.evm.opcodes.logs import EvmLog

SYSTEM_ADDRESS = bytes.fromhex("fffffffffffffffffffffffffffffffffffffffe")
SYSTEM_GAS = 30_000_000
BEACON_ROOTS = bytes.fromhex("000f3df6d732807ef1319fb7b8bb8522d0beac02")
"""EIP-4788."""
HISTORY = bytes.fromhex("0000f90827f1c53a10cb7a02335b175320002935")
"""EIP-2935."""
WITHDRAWAL_REQUESTS = bytes.fromhex("00000961ef480eb55e80d19ad83579a64c007002")
"""EIP-7002."""
CONSOLIDATION_REQUESTS = bytes.fromhex("0000bbddc7ce488642fb579f8b00f3a590007251")
"""EIP-7251."""
DEPOSITS = bytes.fromhex("00000000219ab540356cbb839cbe05303d7705fa")
"""EIP-6110, on mainnet; other chains configure their own."""
DEPOSIT_TOPIC = keccak(b"DepositEvent(bytes,bytes,bytes,bytes,bytes)")
DEPOSIT_REQUEST, WITHDRAWAL_REQUEST, CONSOLIDATION_REQUEST = b"\0", b"\1", b"\2"
DEPOSIT_FIELDS = ((160, 48), (256, 32), (320, 8), (384, 96), (512, 8))
"""Where the five fields of a deposit stand in the data of its log, each after its length."""
DEPOSIT_BYTES = 576
WITHDRAWAL_UNIT_WEI = 10**9
"""Withdrawals are counted in gwei (EIP-4895)."""


class SystemCallFailed(Exception):
    """A system contract is missing or failed where the fork needs it: the block is invalid."""


class MalformedDeposit(SystemCallFailed):
    """A log of the deposit contract that no deposit contract makes."""


def open_block(execution: EvmExecution, *, parent_hash: bytes, parent_beacon_root: bytes) -> None:
    """Keep the parent's hashes where contracts read them. A missing contract keeps nothing."""
    call_system(execution, BEACON_ROOTS, parent_beacon_root)
    if execution.rules.fork >= Fork.PRAGUE:
        call_system(execution, HISTORY, parent_hash)


def close_block(
    execution: EvmExecution,
    withdrawals: Iterable[Withdrawal],
    logs: Iterable[EvmLog],
    *,
    deposits: bytes = DEPOSITS,
) -> tuple[bytes, ...]:
    """Pay the withdrawals and return the requests, each after the byte of its type."""
    for one in withdrawals:
        execution.journal.pay(one.address, one.amount_gwei * WITHDRAWAL_UNIT_WEI)
    execution.journal.settle()
    if execution.rules.fork < Fork.PRAGUE:
        return ()
    found = (
        DEPOSIT_REQUEST
        + b"".join([deposit(log.data) for log in logs if is_deposit(log, deposits)]),
        WITHDRAWAL_REQUEST + asked(execution, WITHDRAWAL_REQUESTS),
        CONSOLIDATION_REQUEST + asked(execution, CONSOLIDATION_REQUESTS),
    )
    return tuple([request for request in found if len(request) > 1])


def requests_hash(requests: Iterable[bytes]) -> bytes:
    """EIP-7685."""
    return sha256(b"".join([sha256(request).digest() for request in requests])).digest()


def asked(execution: EvmExecution, address: bytes) -> bytes:
    """What a contract that must be there answers at the end of a block."""
    frame = call_system(execution, address, b"")
    if frame is None or not frame.is_good():
        raise SystemCallFailed(f"the system contract at 0x{address.hex()} is missing or failed")
    return frame.output


def call_system(execution: EvmExecution, address: bytes, data: bytes) -> CallFrame | None:
    """Call a system contract for nobody's gas; None if it has no code."""
    if not execution.journal.code(address):
        return None
    context = execution.context(SYSTEM_ADDRESS, price_wei=0)
    frame = CallFrame(
        context,
        kind="CALL",
        target=execution.target(context, address),
        caller=SYSTEM_ADDRESS,
        address=address,
        data=data,
        gas=SYSTEM_GAS,
    )
    execute(frame)
    execution.journal.settle()
    return frame


def is_deposit(log: EvmLog, contract: bytes) -> bool:
    return log.address == contract and log.topics[:1] == (DEPOSIT_TOPIC,)


def deposit(data: bytes) -> bytes:
    """The five fields of a deposit, one after the other."""
    lengths = [int.from_bytes(data[at : at + 32], "big") for at, _ in DEPOSIT_FIELDS]
    offsets = [int.from_bytes(data[32 * index :][:32], "big") for index in range(5)]
    if (
        len(data) != DEPOSIT_BYTES
        or offsets != [at for at, _ in DEPOSIT_FIELDS]
        or lengths != [length for _, length in DEPOSIT_FIELDS]
    ):
        raise MalformedDeposit("a log of the deposit contract has another form")
    return b"".join([data[at + 32 : at + 32 + length] for at, length in DEPOSIT_FIELDS])
