// An ERC-20 by viem, from its deployment to its traces: one line of JSON for each step.
//
// Standard input is one line: the node's `url` and `ws_url`, the `key` of an account with ether,
// and the `code` that creates the token. What is told is the same on every node: no hashes, no
// times. Its polling interval is 30 ms, where its default is 4 s.

const viem = require("viem");
const { privateKeyToAccount } = require("viem/accounts");
const { foundry } = require("viem/chains");
const { asked } = require("../../bench/peers/wire.cjs");
const { called, ERC20, stepped, told, until } = require("./lines.cjs");

const GWEI = 10n ** 9n;
const SUPPLY = 10n ** 24n;
const [ALICE, BOB, CAROL] = ["11", "22", "33"].map((byte) => `0x${byte.repeat(20)}`);
const abi = viem.parseAbi(ERC20);

const main = async () => {
  const { url, ws_url, key, code } = await asked();
  const account = privateKeyToAccount(key);
  const owner = account.address;
  const shared = { chain: foundry, pollingInterval: 30, cacheTime: 0 };
  const answered = {}; // How often each method of the HTTP node was.
  const fetchFn = async (input, init) => {
    const response = await fetch(input, init);
    const { method } = JSON.parse(init.body);
    answered[method] = (answered[method] ?? 0) + 1;
    return response;
  };
  const node = viem.createPublicClient({ ...shared, transport: viem.http(url, { fetchFn }) });
  const live = viem.createPublicClient({ ...shared, transport: viem.webSocket(ws_url) });
  const wallet = viem.createWalletClient({ ...shared, account, transport: viem.http(url) });
  const control = viem.createTestClient({ ...shared, mode: "anvil", transport: viem.http(url) });
  const notifier = await live.transport.getRpcClient();
  const count = () =>
    notifier.subscriptions.size +
    (answered.eth_newFilter ?? 0) +
    (answered.eth_newPendingTransactionFilter ?? 0);
  const mined = (hash) => node.waitForTransactionReceipt({ hash });

  // The first block's base fee is one that every node has from then on.
  await control.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI });
  told("chain", {
    id: await node.getChainId(),
    height: await node.getBlockNumber(),
    balance: await node.getBalance({ address: owner }),
    count: await node.getTransactionCount({ address: owner }),
  });

  const deployed = await mined(
    await wallet.deployContract({ abi, bytecode: code, args: [SUPPLY] }),
  );
  const address = deployed.contractAddress;
  told("deploy", {
    address,
    block: deployed.blockNumber,
    gas: deployed.gasUsed,
    price: deployed.effectiveGasPrice,
    status: deployed.status,
    to: deployed.to,
    type: deployed.type,
    size: viem.size(await node.getCode({ address })),
    nonce: await node.getTransactionCount({ address }),
  });

  const token = viem.getContract({ abi, address, client: { public: node, wallet } });
  told("read", {
    name: await token.read.name(),
    symbol: await token.read.symbol(),
    decimals: await token.read.decimals(),
    supply: await token.read.totalSupply(),
    owned: await token.read.balanceOf([owner]),
  });

  const plain = ({ eventName, args, logIndex, blockNumber, removed }) => ({
    ...{ eventName, args, logIndex, blockNumber, removed },
  });
  const transfer = async (to, value, more = {}) => token.write.transfer([to, value], more);
  const simulated = await token.simulate.transfer([ALICE, 5n], { account });
  const moved = await mined(await transfer(ALICE, 5n));
  const sent = await node.getTransaction({ hash: moved.transactionHash });
  told("transfer", {
    simulated: simulated.result,
    status: moved.status,
    gas: moved.gasUsed,
    total: moved.cumulativeGasUsed,
    index: moved.transactionIndex,
    bloom: moved.logsBloom,
    events: viem.parseEventLogs({ abi, logs: moved.logs }).map(plain),
    input: viem.decodeFunctionData({ abi, data: sent.input }),
    sent: [sent.from, sent.to, sent.value, sent.nonce, sent.type, sent.maxPriorityFeePerGas],
    owned: [await token.read.balanceOf([owner]), await token.read.balanceOf([ALICE])],
    before: await token.read.balanceOf([ALICE], { blockNumber: moved.blockNumber - 1n }),
  });

  const range = { address, event: viem.getAbiItem({ abi, name: "Transfer" }), fromBlock: 0n };
  told("logs", {
    all: (await node.getLogs({ ...range, toBlock: "latest" })).map(plain),
    toAlice: (await node.getLogs({ ...range, args: { to: ALICE } })).length,
    toBob: (await node.getLogs({ ...range, args: { to: BOB } })).length,
    block: (await node.getLogs({ address, blockHash: moved.blockHash })).length,
  });

  for (const [step, client, poll] of [
    ["watch by a filter", node, true],
    ["watch by a subscription", live, false],
  ]) {
    const events = [];
    const failures = [];
    const before = count();
    const stop = client.watchContractEvent({
      ...{ abi, address, eventName: "Transfer", args: { to: BOB }, poll },
      onLogs: (logs) => events.push(...logs.map(plain)),
      onError: (error) => failures.push(error.shortMessage ?? error.message),
    });
    await until(`to ${step}`, () => count() > before || failures.length);
    await mined(await transfer(BOB, 1n));
    await mined(await transfer(CAROL, 2n));
    await mined(await transfer(BOB, 3n));
    await until(step, () => events.length >= 2 || failures.length);
    stop();
    told(step, { events, failures });
  }

  const heads = [];
  const waiting = [];
  const before = count();
  const stops = [
    live.watchBlockNumber({ onBlockNumber: (number) => heads.push(number) }),
    live.watchPendingTransactions({ onTransactions: (hashes) => waiting.push(...hashes) }),
    node.watchPendingTransactions({ onTransactions: (hashes) => waiting.push(...hashes) }),
  ];
  await until("to watch", () => count() >= before + 3);
  const seen = await mined(await transfer(CAROL, 1n));
  await until("the notices", () => heads.length >= 1 && waiting.length >= 2);
  stops.forEach((stop) => stop());
  told("watch blocks and the pool", {
    block: heads[0] === seen.blockNumber,
    twice: waiting.every((hash) => hash === seen.transactionHash),
  });

  await control.setAutomine(false);
  const fees = (gwei) => ({ maxFeePerGas: gwei * GWEI, maxPriorityFeePerGas: GWEI, gas: 60_000n });
  for (const [step, again] of [
    ["replace", (nonce) => transfer(ALICE, 7n, { nonce, ...fees(9n) })],
    ["cancel", (nonce) => wallet.sendTransaction({ to: owner, nonce, ...fees(9n) })],
  ]) {
    const nonce = await node.getTransactionCount({ address: owner });
    const first = await transfer(ALICE, 6n, { nonce, ...fees(5n) });
    const noticed = [];
    const looks = answered.eth_getTransactionByHash ?? 0;
    const outcome = node.waitForTransactionReceipt({
      hash: first,
      onReplaced: ({ reason, replacedTransaction }) =>
        noticed.push([reason, replacedTransaction.hash === first]),
    });
    await until("a look at what waits", () => answered.eth_getTransactionByHash > looks);
    const pool = await control.getTxpoolStatus();
    const content = await control.getTxpoolContent();
    const held = content.pending[owner] ?? content.pending[owner.toLowerCase()];
    const low = await transfer(ALICE, 8n, { nonce, ...fees(2n) }).catch((error) => error);
    const second = await again(nonce);
    await control.mine({ blocks: 1 });
    const receipt = await outcome;
    const lost = await node.getTransactionReceipt({ hash: first }).catch((error) => error);
    told(step, {
      pool,
      held: Object.values(held).map((one) => [one.from, one.to, one.value, one.nonce]),
      low: low.details,
      noticed,
      isSecond: receipt.transactionHash === second,
      status: receipt.status,
      gas: receipt.gasUsed,
      price: receipt.effectiveGasPrice,
      lost: lost.name,
      owned: await token.read.balanceOf([ALICE]),
      next: (await node.getTransactionCount({ address: owner })) - nonce,
    });
  }
  await control.setAutomine(true);

  const refused = await token.simulate.transfer([BOB, 1n], { account: CAROL.replace("3", "4") })
    .catch((error) => error.walk((one) => one instanceof viem.ContractFunctionRevertedError));
  const failed = await mined(await transfer(BOB, 2n * SUPPLY, { gas: 100_000n }));
  told("revert", {
    error: refused.data?.errorName,
    args: refused.data?.args,
    raw: refused.raw,
    status: failed.status,
    gas: failed.gasUsed,
    logs: failed.logs.length,
  });

  told("estimate", {
    transfer: await token.estimateGas.transfer([BOB, 1n], { account }),
    plain: await node.estimateGas({ account, to: BOB, value: 1n }),
    refused: await token.estimateGas.transfer([BOB, 2n * SUPPLY], { account }).catch(
      (error) => error.walk((one) => one.data?.errorName).data?.errorName,
    ),
  });

  const slot = viem.keccak256(
    viem.encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [ALICE, 0n]),
  );
  const data = viem.encodeFunctionData({ abi, functionName: "balanceOf", args: [ALICE] });
  const overridden = async (...stateOverride) =>
    (await node.call({ to: address, data, stateOverride })).data;
  const asWord = (value) => viem.numberToHex(value, { size: 32 });
  told("override", {
    slot: await overridden({ address, stateDiff: [{ slot, value: asWord(42n) }] }),
    all: await overridden({ address, state: [{ slot, value: asWord(43n) }] }),
    code: await overridden({ address, code: "0x602a60005260206000f3" }),
    none: await overridden(),
    access: (({ accessList, gasUsed }) => ({ accessList, gasUsed }))(
      await node.createAccessList({ account, to: address, data }),
    ),
  });

  const trace = (hash, options) =>
    node.request({ method: "debug_traceTransaction", params: [hash, options] });
  told("trace", {
    moved: called(await trace(moved.transactionHash, { tracer: "callTracer" })),
    failed: called(await trace(failed.transactionHash, { tracer: "callTracer" })),
    deployed: called(await trace(deployed.transactionHash, { tracer: "callTracer" })).type,
    steps: stepped(await trace(moved.transactionHash, {})),
    before: await trace(moved.transactionHash, { tracer: "prestateTracer" }),
  });

  const history = await node.getFeeHistory({ blockCount: 3, rewardPercentiles: [25, 75] });
  told("fees", {
    history,
    price: await node.getGasPrice(),
    tip: await node.estimateMaxPriorityFeePerGas(),
    both: await node.estimateFeesPerGas(),
  });

  const proof = await node.getProof({ address, storageKeys: [slot] });
  const { accountProof, ...proven } = proof;
  told("proof", { ...proven, levels: accountProof.length > 0 });

  const snapshot = await control.snapshot();
  await control.setBalance({ address: BOB, value: 5n });
  await mined(await transfer(BOB, 100n));
  const there = await token.read.balanceOf([BOB]);
  await control.revert({ id: snapshot });
  told("snapshot", {
    there,
    again: await token.read.balanceOf([BOB]),
    balance: await node.getBalance({ address: BOB }),
    height: await node.getBlockNumber(),
  });

  await control.setBalance({ address: ALICE, value: 10n ** 18n });
  await control.impersonateAccount({ address: ALICE });
  const asAlice = viem.createWalletClient({ ...shared, account: ALICE, transport: viem.http(url) });
  const lent = await mined(
    await asAlice.writeContract({
      ...{ abi, address, functionName: "transfer", args: [CAROL, 1n] },
    }),
  );
  await control.stopImpersonatingAccount({ address: ALICE });
  told("impersonate", { from: lent.from, status: lent.status, gas: lent.gasUsed });

  notifier.close();
  process.exit(0); // Its kept-alive connections would hold it for seconds.
};

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
