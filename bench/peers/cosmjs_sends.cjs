// cosmjs: N sends from one account, each signed and awaited as its documentation shows it.

const { DirectSecp256k1Wallet } = require("@cosmjs/proto-signing");
const { SigningStargateClient } = require("@cosmjs/stargate");
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
  const hashes = [];
  const read = watch();
  for (let number = 0; number < jobs; number++) {
    const sent = await client.sendTokens(account.address, to, amount, fee);
    if (sent.code !== 0) throw new Error(`${sent.transactionHash} ${sent.rawLog}`);
    hashes.push(sent.transactionHash);
  }
  told({ jobs, hashes, ...read() });
  process.exit(0); // Its kept-alive connections would hold it for seconds.
};

main();
