// ethers: N transfers from one account with its NonceManager, then N receipts.
//
// Every field but the nonce is given, so nothing is asked before a send. Its provider makes
// batches of up to 100 by itself. It polls every 50 ms where its default is 4 s.

const { JsonRpcProvider, Network, NonceManager, Wallet } = require("ethers");
const { asked, together, told, watch } = require("./wire.cjs");

const main = async () => {
  const question = await asked();
  const { jobs, width } = question;
  const network = Network.from(question.chain_id);
  const provider = new JsonRpcProvider(question.url, network, {
    staticNetwork: network,
    batchMaxCount: question.batch,
    pollingInterval: question.poll_ms,
  });
  const signer = new NonceManager(new Wallet(question.key, provider));
  const fees = {
    maxFeePerGas: BigInt(question.fee_wei_max),
    maxPriorityFeePerGas: BigInt(question.tip_wei_max),
  };
  const transfer = { chainId: question.chain_id, type: 2, to: question.to, ...fees };
  const send = async (count) => {
    const sent = [];
    await together(count, width, async (number) => {
      sent[number] = await signer.sendTransaction({ ...transfer, value: 1n, gasLimit: 21_000n });
    });
    await together(count, width, async (number) => {
      const receipt = await sent[number].wait();
      if (receipt.status !== 1) throw new Error(`${sent[number].hash} ${receipt.status}`);
    });
  };
  await send(question.warm);
  const read = watch();
  await send(jobs);
  await told({ jobs, ...read() });
  process.exit(0); // Its kept-alive connections would hold it for seconds.
};

main();
