// An ERC-20 by ethers, from its deployment to its traces: one line of JSON for each step.
//
// It is asked as viem.cjs is. Its polling interval is 30 ms, where its default is 4 s, and it keeps
// no answer for a quarter of a second, as it does by default.

const ethers = require("ethers");
const { asked } = require("../../bench/peers/wire.cjs");
const { called, ERC20, stepped, told, until } = require("./lines.cjs");

const GWEI = 10n ** 9n;
const SUPPLY = 10n ** 24n;
const [ALICE, BOB, CAROL] = ["11", "22", "33"].map((byte) => `0x${byte.repeat(20)}`);

const main = async () => {
  const { url, ws_url, key, code } = await asked();
  const options = { cacheTimeout: -1, pollingInterval: 30 };
  const node = new ethers.JsonRpcProvider(url, undefined, options);
  node.pollingInterval = 30;
  const live = new ethers.WebSocketProvider(ws_url, undefined, options);
  const wallet = new ethers.Wallet(key, node);
  const owner = wallet.address;

  // The first block's base fee is one that every node has from then on.
  await node.send("anvil_setNextBlockBaseFeePerGas", [ethers.toQuantity(GWEI)]);
  told("chain", {
    id: (await node.getNetwork()).chainId,
    height: await node.getBlockNumber(),
    balance: await node.getBalance(owner),
    count: await node.getTransactionCount(owner),
  });

  const factory = new ethers.ContractFactory(ERC20, code, wallet);
  const contract = await factory.deploy(SUPPLY);
  const deployed = await contract.deploymentTransaction().wait();
  const address = await contract.getAddress();
  told("deploy", {
    address: deployed.contractAddress,
    agreed: deployed.contractAddress === address,
    block: deployed.blockNumber,
    gas: deployed.gasUsed,
    price: deployed.gasPrice,
    status: deployed.status,
    to: deployed.to,
    type: deployed.type,
    size: ethers.dataLength(await node.getCode(address)),
    nonce: await node.getTransactionCount(address),
  });

  const token = new ethers.Contract(address, ERC20, wallet);
  told("read", {
    name: await token.name(),
    symbol: await token.symbol(),
    decimals: await token.decimals(),
    supply: await token.totalSupply(),
    owned: await token.balanceOf(owner),
  });

  const plain = (log) => ({
    name: log.fragment.name,
    args: log.args.toArray(),
    index: log.index,
    block: log.blockNumber,
    removed: log.removed,
  });
  const transfer = async (to, value) => (await token.transfer(to, value)).wait();
  const simulated = await token.transfer.staticCall(ALICE, 5n);
  const moved = await transfer(ALICE, 5n);
  const sent = await node.getTransaction(moved.hash);
  told("transfer", {
    simulated,
    status: moved.status,
    gas: moved.gasUsed,
    total: moved.cumulativeGasUsed,
    index: moved.index,
    bloom: moved.logsBloom,
    events: moved.logs.map(plain),
    input: token.interface.parseTransaction(sent).args.toArray(),
    sent: [sent.from, sent.to, sent.value, sent.nonce, sent.type, sent.maxPriorityFeePerGas],
    owned: [await token.balanceOf(owner), await token.balanceOf(ALICE)],
    before: await token.balanceOf(ALICE, { blockTag: moved.blockNumber - 1 }),
    confirmations: await moved.confirmations(),
  });

  told("logs", {
    all: (await token.queryFilter("Transfer", 0, "latest")).map(plain),
    toAlice: (await token.queryFilter(token.filters.Transfer(null, ALICE))).length,
    toBob: (await token.queryFilter(token.filters.Transfer(null, BOB))).length,
    block: (await node.getLogs({ address, blockHash: moved.blockHash })).length,
  });

  for (const [step, provider] of [
    ["watch by a filter", node],
    ["watch by a subscription", live],
  ]) {
    const watched = new ethers.Contract(address, ERC20, provider);
    const filter = watched.filters.Transfer(null, BOB);
    const events = [];
    await watched.on(filter, ({ log }) => events.push(plain(log)));
    await provider.send("eth_chainId", []); // After it has asked to be notified.
    await transfer(BOB, 1n);
    await transfer(CAROL, 2n);
    await transfer(BOB, 3n);
    await until(step, () => events.length >= 2);
    await watched.off(filter);
    told(step, { events });
  }

  const heads = [];
  const waiting = [];
  for (const provider of [node, live]) {
    await provider.on("block", (number) => heads.push(number));
    await provider.on("pending", (hash) => waiting.push(hash));
  }
  for (const provider of [node, live]) await provider.send("eth_chainId", []);
  const seen = await transfer(CAROL, 1n);
  await until("the notices", () => heads.length >= 2 && waiting.length >= 2);
  for (const provider of [node, live]) await provider.removeAllListeners();
  told("watch blocks and the pool", {
    blocks: heads.map((number) => number === seen.blockNumber),
    hashes: waiting.map((hash) => hash === seen.hash),
  });

  await node.send("evm_setAutomine", [false]);
  const fees = (gwei) => ({
    ...{ maxFeePerGas: gwei * GWEI, maxPriorityFeePerGas: GWEI, gasLimit: 60_000n },
  });
  for (const [step, again] of [
    ["replace", (nonce) => token.transfer(ALICE, 7n, { nonce, ...fees(9n) })],
    ["cancel", (nonce) => wallet.sendTransaction({ to: owner, nonce, ...fees(9n) })],
  ]) {
    const nonce = await node.getTransactionCount(owner);
    const first = await token.transfer(ALICE, 6n, { nonce, ...fees(5n) });
    // What a contract's method returns looks for no replacement unless it is asked to.
    const replaceable = first.replaceableTransaction(await node.getBlockNumber());
    const outcome = replaceable.wait().catch((error) => error);
    const pending = await node.getTransactionCount(owner, "pending");
    const waits = await node.getTransaction(first.hash);
    const low = await token.transfer(ALICE, 8n, { nonce, ...fees(2n) }).catch((error) => error);
    const second = await again(nonce);
    await node.send("evm_mine", []);
    const replaced = await outcome;
    told(step, {
      pending: pending - nonce,
      waits: [waits.isMined(), waits.nonce === nonce],
      low: [low.code, low.error?.message ?? low.info?.error?.message],
      code: replaced.code,
      reason: replaced.reason,
      cancelled: replaced.cancelled,
      isSecond: replaced.replacement?.hash === second.hash,
      status: replaced.receipt?.status,
      gas: replaced.receipt?.gasUsed,
      price: replaced.receipt?.gasPrice,
      lost: await node.getTransactionReceipt(first.hash),
      owned: await token.balanceOf(ALICE),
      next: (await node.getTransactionCount(owner)) - nonce,
    });
  }
  await node.send("evm_setAutomine", [true]);

  const poor = { from: CAROL.replace("3", "4") };
  const refused = await token.connect(node).transfer.staticCall(BOB, 1n, poor).catch((it) => it);
  const failing = await token.transfer(BOB, 2n * SUPPLY, { gasLimit: 100_000n });
  const failed = await failing.wait().catch((error) => error);
  told("revert", {
    code: refused.code,
    error: refused.revert?.name,
    args: refused.revert?.args.toArray(),
    raw: refused.data,
    sent: failed.code,
    status: failed.receipt?.status,
    gas: failed.receipt?.gasUsed,
    logs: failed.receipt?.logs.length,
  });

  const tooMuch = await token.transfer.estimateGas(BOB, 2n * SUPPLY).catch((error) => error);
  told("estimate", {
    transfer: await token.transfer.estimateGas(BOB, 1n),
    plain: await wallet.estimateGas({ to: BOB, value: 1n }),
    refused: [tooMuch.code, tooMuch.data],
  });

  const coder = ethers.AbiCoder.defaultAbiCoder();
  const slot = ethers.keccak256(coder.encode(["address", "uint256"], [ALICE, 0n]));
  const call = { to: address, data: token.interface.encodeFunctionData("balanceOf", [ALICE]) };
  const overridden = (one) => node.send("eth_call", [call, "latest", { [address]: one }]);
  const access = await node.send("eth_createAccessList", [{ from: owner, ...call }, "latest"]);
  told("override", {
    slot: await overridden({ stateDiff: { [slot]: ethers.toBeHex(42n, 32) } }),
    all: await overridden({ state: { [slot]: ethers.toBeHex(43n, 32) } }),
    code: await overridden({ code: "0x602a60005260206000f3" }),
    none: await overridden({}),
    access,
  });

  const trace = (hash, how) => node.send("debug_traceTransaction", [hash, how]);
  told("trace", {
    moved: called(await trace(moved.hash, { tracer: "callTracer" })),
    failed: called(await trace(failing.hash, { tracer: "callTracer" })),
    deployed: called(await trace(deployed.hash, { tracer: "callTracer" })).type,
    steps: stepped(await trace(moved.hash, {})),
    before: await trace(moved.hash, { tracer: "prestateTracer" }),
  });

  const data = await node.getFeeData();
  told("fees", {
    history: await node.send("eth_feeHistory", ["0x3", "latest", [25, 75]]),
    data: [data.gasPrice, data.maxFeePerGas, data.maxPriorityFeePerGas],
  });

  const { accountProof, ...proven } = await node.send("eth_getProof", [address, [slot], "latest"]);
  told("proof", { ...proven, levels: accountProof.length > 0 });

  const snapshot = await node.send("evm_snapshot", []);
  await node.send("anvil_setBalance", [BOB, "0x5"]);
  await transfer(BOB, 100n);
  const there = await token.balanceOf(BOB);
  const isBack = await node.send("evm_revert", [snapshot]);
  told("snapshot", {
    there,
    isBack,
    again: await token.balanceOf(BOB),
    balance: await node.getBalance(BOB),
    height: await node.getBlockNumber(),
  });

  await node.send("anvil_setBalance", [ALICE, ethers.toQuantity(10n ** 18n)]);
  await node.send("anvil_impersonateAccount", [ALICE]);
  const asAlice = new ethers.Contract(address, ERC20, await node.getSigner(ALICE));
  const lent = await (await asAlice.transfer(CAROL, 1n)).wait();
  await node.send("anvil_stopImpersonatingAccount", [ALICE]);
  told("impersonate", { from: lent.from, status: lent.status, gas: lent.gasUsed });

  await live.destroy();
  process.exit(0); // Its kept-alive connections would hold it for seconds.
};

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
