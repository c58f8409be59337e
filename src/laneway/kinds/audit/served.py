"""The audit trail as a process serves it."""

from laneway.kinds.audit.trail import Audit
from laneway.kinds.served import Operator, Served
from laneway.lanes.audit import audit_kind
from laneway.lanes.kind import LaneKind


class AuditServed(Served):
    name = "audit"
    is_listed = False

    def machine(self) -> LaneKind:
        return audit_kind()

    def part(self, operator: Operator) -> Audit:
        return operator.trail
