"""web3.py 8: N transfers from one account with nonces counted here, so many sent at once.

`AsyncWeb3` over HTTP and a local eth-account; every field is given, so nothing is asked before a
send. Receipts are waited for once all are sent, by `wait_for_transaction_receipt`.
"""

import asyncio
import logging

import uvloop
from eth_account import Account
from web3 import AsyncHTTPProvider, AsyncWeb3
from wire import Watch, asked, told

logging.disable(logging.CRITICAL)


async def main():
    question = asked()
    jobs, width = question["jobs"], question["width"]
    node = AsyncWeb3(AsyncHTTPProvider(question["url"]))
    account = Account.from_key(question["key"])

    async def send(nonce):
        signed = account.sign_transaction(
            {
                "chainId": question["chain_id"],
                "type": 2,
                "nonce": nonce,
                "to": question["to"],
                "value": 1,
                "gas": 21_000,
                "maxFeePerGas": question["fee_wei_max"],
                "maxPriorityFeePerGas": question["tip_wei_max"],
            }
        )
        return await node.eth.send_raw_transaction(signed.raw_transaction)

    async def prove(mined):
        receipt = await node.eth.wait_for_transaction_receipt(
            mined, poll_latency=question["poll_ms"] / 1_000
        )
        assert receipt["status"] == 1, receipt

    async def send_all(begin, count):
        end = begin + count
        hashes = []
        for first in range(begin, end, width):
            batch = range(first, min(end, first + width))
            hashes += await asyncio.gather(*(send(nonce) for nonce in batch))
        for first in range(0, count, width):
            await asyncio.gather(*(prove(mined) for mined in hashes[first : first + width]))

    nonce = await node.eth.get_transaction_count(account.address)
    await send_all(nonce, question["warm"])
    watch = Watch()
    await send_all(nonce + question["warm"], jobs)
    told(jobs=jobs, **watch.read())
    await node.provider.disconnect()


uvloop.run(main())
