// viem: N transfers from one account with its nonceManager, then N receipts.
//
// Every field but the nonce is given, so nothing is asked before a send. With `batch` its transport
// makes batches of so many calls, which it does only where it is told to; without, it is as its
// documentation shows it. Receipts are waited for once all are sent, which suits it best here.
// It polls every 50 ms where its default is 4 s, and does not look for replacements.

const { createPublicClient, createWalletClient, http, nonceManager } = require("viem");
const { privateKeyToAccount } = require("viem/accounts");
const { foundry } = require("viem/chains");
const { asked, together, told, watch } = require("./wire.cjs");

const main = async () => {
  const question = await asked();
  const { jobs, width } = question;
  const account = privateKeyToAccount(question.key, { nonceManager });
  const batch = question.batch > 0 && { batchSize: question.batch };
  const transport = http(question.url, { batch });
  const chain = { ...foundry, id: question.chain_id };
  const wallet = createWalletClient({ account, chain, transport });
  const node = createPublicClient({ chain, transport, pollingInterval: question.poll_ms });
  const fees = {
    maxFeePerGas: BigInt(question.fee_wei_max),
    maxPriorityFeePerGas: BigInt(question.tip_wei_max),
  };
  const transfer = { to: question.to, value: 1n, gas: 21_000n, type: "eip1559", ...fees };
  const send = async (count) => {
    const hashes = [];
    await together(count, width, async (number) => {
      hashes[number] = await wallet.sendTransaction(transfer);
    });
    await together(count, width, async (number) => {
      const hash = hashes[number];
      const receipt = await node.waitForTransactionReceipt({ hash, checkReplacement: false });
      if (receipt.status !== "success") throw new Error(`${hash} ${receipt.status}`);
    });
  };
  await send(question.warm);
  const read = watch();
  await send(jobs);
  await told({ jobs, ...read() });
  process.exit(0); // Its kept-alive connections would hold it for seconds.
};

main();
