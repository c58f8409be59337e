"""The two sides of the vote benchmark do what they say."""

import io
import json
import sys

import pytest
from nacl.exceptions import BadSignatureError

from laneway.jam.errors import BadVoteSignature
from laneway_bench.jam import votes as jam_votes
from laneway_bench.jam.votes import GOAL, VotesStage


@pytest.mark.slow
def test_both_sides_check_every_signature() -> None:
    stage = VotesStage()
    assert len(stage.signed) == 683
    stage.verify()
    stage.verify_bare()
    # The first vote begins behind round, set, target, slot and count; its signature 68 bytes on.
    spoilt = bytearray(stage.raw)
    spoilt[82 + 682 * 164 + 68] ^= 1
    stage.raw = bytes(spoilt)
    signed, key = stage.signed[-1]
    stage.signed[-1] = (bytes([signed[0] ^ 1]) + signed[1:], key)
    with pytest.raises(BadVoteSignature):
        stage.verify()
    with pytest.raises(BadSignatureError):
        stage.verify_bare()


@pytest.mark.slow
def test_a_measurement_tells_each_round_and_the_ratio(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"rounds": 2}\n'))
    jam_votes.main()
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["votes"] == 683
    assert len(result["laneway_ms"]) == len(result["pynacl_ms"]) == 2
    assert result[GOAL] > 0
