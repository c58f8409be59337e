"""cosmpy: N sends from one account over REST, each signed and awaited as its documentation shows
it. Its own waiting is in whole seconds; it is told to look more often. Its gas is given, so that
nothing is simulated."""

from datetime import timedelta

from cosmpy.aerial.client import LedgerClient, NetworkConfig
from cosmpy.aerial.tx import TxFee
from cosmpy.aerial.wallet import LocalWallet
from cosmpy.crypto.keypairs import PrivateKey
from wire import Watch, asked, told


def main():
    question = asked()
    denom = question["denom"]
    network = NetworkConfig(
        chain_id=question["chain_id"],
        url=f"rest+{question['url']}",
        fee_minimum_gas_price=question["gas_price"],
        fee_denomination=denom,
        staking_denomination=denom,
    )
    client = LedgerClient(network)
    wallet = LocalWallet(PrivateKey(bytes.fromhex(question["key"])), prefix=question["prefix"])
    often = timedelta(milliseconds=question["poll_ms"])
    fee = TxFee(f"{question['fee']}{denom}", int(question["gas"]))
    hashes = []
    watch = Watch()
    for _ in range(question["jobs"]):
        sent = client.send_tokens(question["to"], 1, denom, wallet, fee=fee)
        sent.wait_to_complete(timeout=timedelta(seconds=60), poll_period=often)
        assert sent.response.code == 0, sent.response
        hashes.append(sent.tx_hash)
    told(jobs=question["jobs"], hashes=hashes, **watch.read())


main()
