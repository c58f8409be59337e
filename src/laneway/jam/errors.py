"""Why bytes or values are no part of a JAM chain. Every class has a stable code.

InvalidJam
├── its bytes    MalformedEncoding
├── its values   Unencodable
├── its proofs   InvalidProof
├── its shards   TooFewShards · InconsistentShards
├── its package  ForbiddenPackage · BundleMismatch
├── its rollup   InvalidBlock
└── its finality InvalidJustification (WrongVoterSet · WrongTarget · TooFewVotes ·
                 BadVoteSignature · StrayVote · BrokenAncestry) · FinalityWentBack
"""

from typing import Self

from laneway.core.errors import InvalidValue


class InvalidJam(InvalidValue):
    code = "jam_invalid"
    message = "the JAM object is invalid"


class MalformedEncoding(InvalidJam):
    """Bytes that are no encoding of what was expected; `path` leads to the field."""

    code = "encoding_malformed"
    message = "{path}, byte {at}: {problem}"

    @classmethod
    def at(cls, at: int, problem: str) -> Self:
        return cls(path="", at=at, problem=problem)

    def within(self, name: str) -> Self:
        """The same error, with the name of what encloses the field."""
        inner = str(self.operands["path"])
        joined = name + inner if inner.startswith("[") or not inner else f"{name}.{inner}"
        return type(self)(**{**self.operands, "path": joined})


class Unencodable(InvalidJam):
    """A value that no encoding exists for; a bug of the caller, or of its caller."""

    code = "value_unencodable"
    message = "{problem}"


class InvalidProof(InvalidJam):
    code = "proof_invalid"
    message = "the proof does not hold: {problem}"


class TooFewShards(InvalidJam):
    code = "shards_too_few"
    message = "{given} distinct shards were given, and {needed} are needed"


class InconsistentShards(InvalidJam):
    code = "shards_inconsistent"
    message = "the shards do not belong together: {problem}"


class ForbiddenPackage(InvalidJam):
    """A package that asks for more than any package may."""

    code = "package_forbidden"
    message = "the package has {given} {what}; {least} to {most} are allowed"


class BundleMismatch(InvalidJam):
    """What comes with a package is not what it names."""

    code = "bundle_mismatch"
    message = "{what} {index} of the bundle is not what the package names: {problem}"


class InvalidJustification(InvalidJam):
    """What does not prove that a block is final; the classes below say why."""

    code = "justification_invalid"
    message = "the justification does not hold"


class WrongVoterSet(InvalidJustification):
    code = "justification_set_wrong"
    message = "the justification is of voter set {given}, and set {expected} votes"


class WrongTarget(InvalidJustification):
    code = "justification_target_wrong"
    message = "the justification, of slot {given}, is not for the header, of slot {expected}"


class TooFewVotes(InvalidJustification):
    code = "justification_votes_too_few"
    message = (
        "{counted} voters of the set precommitted, and {needed} are needed; "
        "{ignored} votes are of no voter in it and {repeated} repeat one"
    )


class BadVoteSignature(InvalidJustification):
    code = "justification_signature_bad"
    message = "precommit {place} is not signed by the key that it names"


class StrayVote(InvalidJustification):
    code = "justification_vote_stray"
    message = "precommit {place} is not for the final block or one that follows it: {problem}"


class BrokenAncestry(InvalidJustification):
    code = "justification_ancestry_broken"
    message = "the ancestries of the justification are not what its votes need: {problem}"


class FinalityWentBack(InvalidJam):
    code = "finality_went_back"
    message = "the header of slot {slot} does not follow slot {final}, which is final"


class InvalidBlock(InvalidJam):
    """A rollup block that does not follow from its parent as its header says."""

    code = "block_invalid"
    message = "the rollup block does not hold: {problem}"
