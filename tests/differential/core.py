"""laneway's side: the one file that knows the interface of its EVM core."""

from tests.differential.case import Answer, Case

ENGINES = ("interpreted", "compiled")


def answer(case: Case, engine: str) -> Answer:
    raise NotImplementedError
