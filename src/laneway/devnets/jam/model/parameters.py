"""The numbers that a node reports of its chain: `parameters`, version 1, of JIP-2."""

from typing import Final

from laneway.jam.rules.queueing import block_gas
from laneway.jam.spec import (
    ACCUMULATE_GAS_MAX,
    AUTHORIZER_POOL_COUNT_MAX,
    AVAILABILITY_TIMEOUT_SLOTS,
    BUNDLE_BYTES_MAX,
    DEPENDENCY_COUNT_MAX,
    EXTRINSIC_COUNT_MAX,
    FULL,
    IMPORT_COUNT_MAX,
    RECENT_BLOCK_COUNT,
    REPORT_BYTES_MAX,
    SEGMENT_BYTES,
    SLOT_SECONDS,
    TINY,
    WORK_ITEM_COUNT_MAX,
    ChainSpec,
)
from laneway.jam.state import AUTHORIZER_QUEUE_COUNT

DEPOSIT_PER_ITEM: Final = 10
DEPOSIT_PER_BYTE: Final = 1
DEPOSIT_PER_ACCOUNT: Final = 100
"""B_I, B_L and B_S."""
IS_AUTHORIZED_GAS_MAX: Final = 50_000_000
"""G_I."""
AUTHORIZER_CODE_BYTES_MAX: Final = 64_000
"""W_A."""
SERVICE_CODE_BYTES_MAX: Final = 4_000_000
"""W_C."""
MEMO_BYTES: Final = 128
"""W_T."""


_SIZES: Final = {TINY.name: (32, 3, 10), FULL.name: (19_200, 16, 500)}
"""D, K and Y, which differ between the chains and which no rule here needs."""


def parameters(spec: ChainSpec) -> dict[str, int]:
    """By JIP-2's names; a chain of other sizes than the two known ones is described as the tiny one
    where nothing else is set."""
    turnaround, tickets, tail = _SIZES.get(spec.name, _SIZES[TINY.name])
    return {
        "deposit_per_item": DEPOSIT_PER_ITEM,
        "deposit_per_byte": DEPOSIT_PER_BYTE,
        "deposit_per_account": DEPOSIT_PER_ACCOUNT,
        "core_count": spec.core_count,
        "epoch_period": spec.epoch_slots,
        "max_accumulate_gas": ACCUMULATE_GAS_MAX,
        "max_is_authorized_gas": IS_AUTHORIZED_GAS_MAX,
        "max_refine_gas": spec.refine_gas_max,
        "block_gas_limit": block_gas(spec, {}),
        "recent_block_count": RECENT_BLOCK_COUNT,
        "max_work_items": WORK_ITEM_COUNT_MAX,
        "max_dependencies": DEPENDENCY_COUNT_MAX,
        "max_lookup_anchor_age": spec.lookup_anchor_slots_max,
        "tickets_attempts_number": spec.ticket_attempts,
        "auth_window": AUTHORIZER_POOL_COUNT_MAX,
        "slot_period_sec": SLOT_SECONDS,
        "auth_queue_len": AUTHORIZER_QUEUE_COUNT,
        "rotation_period": spec.rotation_slots,
        "max_extrinsics": EXTRINSIC_COUNT_MAX,
        "availability_timeout": AVAILABILITY_TIMEOUT_SLOTS,
        "val_count": spec.validator_count,
        "max_authorizer_code_size": AUTHORIZER_CODE_BYTES_MAX,
        "max_input": BUNDLE_BYTES_MAX,
        "max_service_code_size": SERVICE_CODE_BYTES_MAX,
        "basic_piece_len": spec.piece_bytes,
        "max_imports": IMPORT_COUNT_MAX,
        "segment_piece_count": SEGMENT_BYTES // spec.piece_bytes,
        "max_report_elective_data": REPORT_BYTES_MAX,
        "transfer_memo_size": MEMO_BYTES,
        "max_exports": IMPORT_COUNT_MAX,
        "min_turnaround_period": turnaround,
        "max_tickets_per_block": tickets,
        "epoch_tail_start": tail,
    }
