// cosmjs: N sends from one account, each signed and awaited as its documentation shows it; or, told
// to, with sequences counted by hand: all are broadcast, and then all are looked for.

const { DirectSecp256k1Wallet } = require("@cosmjs/proto-signing");
const { SigningStargateClient } = require("@cosmjs/stargate");
const { TxRaw } = require("cosmjs-types/cosmos/tx/v1beta1/tx");
const { asked, told, watch } = require("./wire.cjs");

const main = async () => {
  const question = await asked();
  const { denom, jobs, prefix, to, url } = question;
  const wallet = await DirectSecp256k1Wallet.fromKey(Buffer.from(question.key, "hex"), prefix);
  const [account] = await wallet.getAccounts();
  const options = { broadcastPollIntervalMs: question.poll_ms };
  const client = await SigningStargateClient.connectWithSigner(url, wallet, options);
  const fee = { amount: [{ denom, amount: question.fee }], gas: question.gas };
  const amount = [{ denom, amount: "1" }];
  const message = {
    typeUrl: "/cosmos.bank.v1beta1.MsgSend",
    value: { fromAddress: account.address, toAddress: to, amount },
  };
  const sendOne = async () => {
    const sent = await client.sendTokens(account.address, to, amount, fee);
    if (sent.code !== 0) throw new Error(`${sent.transactionHash} ${sent.rawLog}`);
    return sent.transactionHash;
  };
  const broadcast = async (signer) => {
    const signed = await client.sign(account.address, [message], fee, "", signer);
    return client.broadcastTxSync(TxRaw.encode(signed).finish());
  };
  const seen = async (hash) => {
    for (;;) {
      const found = await client.getTx(hash);
      if (found !== null && found.code === 0) return;
      if (found !== null) throw new Error(`${hash} ${found.rawLog}`);
      await new Promise((resolve) => setTimeout(resolve, question.poll_ms));
    }
  };
  const hashes = [];
  const read = watch();
  if (question.by_hand) {
    const chainId = await client.getChainId();
    const { accountNumber, sequence } = await client.getSequence(account.address);
    for (let number = 0; number < jobs; number++) {
      hashes.push(await broadcast({ accountNumber, chainId, sequence: sequence + number }));
    }
    for (const hash of hashes) await seen(hash);
  } else {
    for (let number = 0; number < jobs; number++) hashes.push(await sendOne());
  }
  await told({ jobs, hashes, ...read() });
  process.exit(0); // Its kept-alive connections would hold it for seconds.
};

main();
