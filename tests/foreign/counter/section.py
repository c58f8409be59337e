"""The configuration of counter lanes: `[counter]`."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from tests.foreign.counter.machine import RETRY_MS_MAX, CounterSettings

from laneway.kinds.config import ConfigPart, Conflict, Duration, FreeTexts, Text

D = CounterSettings()


class CounterSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    folder: Text | None = None
    """Where the counters are kept; unset: no counter lane runs here."""
    retry_ms: Duration = D.retry_ms
    """How long to wait before the counter is read again."""
    answer_ms: Duration = 5_000
    """How long one answer may take."""

    def settings(self) -> CounterSettings:
        return CounterSettings(retry_ms=self.retry_ms)


class CounterConfig(ConfigPart):
    sections = {"counter": CounterSection}
    free_texts = FreeTexts(harmless=frozenset(("counter.folder",)))

    def conflicts(self, config: Any) -> Iterator[Conflict]:
        if config.counter.retry_ms > RETRY_MS_MAX:
            problem = f"a wait is at most {RETRY_MS_MAX} milliseconds"
            yield "counter.retry_ms", "counter.retry_ms", problem
