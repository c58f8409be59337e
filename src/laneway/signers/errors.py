"""What is wrong with a signer before it can sign at all."""

from laneway.core.errors import CallerError


class SignerUnusable(CallerError):
    """A signer that cannot be opened as it is described; a person must act. Never shows a secret:
    the source is what it was called by, the problem is in our own words."""

    code = "signer_unusable"

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source}: {problem}")
