// @ethereumjs/vm: transactions by its own `runTx`, in Prague, with its simple state manager, which
// is quicker than its tree on a small state.
//
// Senders are recovered before the clock starts, and a transaction remembers its own. The hash is
// js-sha3's, which is quicker here than the library's own.

const { createBlock } = require("@ethereumjs/block");
const { Common, Hardfork, Mainnet } = require("@ethereumjs/common");
const { SimpleStateManager } = require("@ethereumjs/statemanager");
const { createTxFromRLP } = require("@ethereumjs/tx");
const { Account, Address, createAddressFromString, hexToBytes, setLengthLeft } = require(
  "@ethereumjs/util",
);
const { createVM, runTx } = require("@ethereumjs/vm");
const { keccak256 } = require("js-sha3");
const { asked, told } = require("./wire.cjs");

const seconds = () => {
  const spent = process.cpuUsage();
  return (spent.user + spent.system) / 1e6;
};
const word = (text) => setLengthLeft(hexToBytes(text.length % 2 ? `0x0${text.slice(2)}` : text), 32);

const filled = async (shown, common) => {
  const state = new SimpleStateManager({ common });
  for (const [text, account] of Object.entries(shown)) {
    const address = createAddressFromString(text);
    const { nonce, balance } = account;
    await state.putAccount(address, new Account(BigInt(nonce), BigInt(balance)));
    if (account.code !== "0x") await state.putCode(address, hexToBytes(account.code));
    for (const [key, value] of Object.entries(account.storage)) {
      const bytes = hexToBytes(value.length % 2 ? `0x0${value.slice(2)}` : value);
      await state.putStorage(address, word(key), bytes);
    }
  }
  return state;
};

const main = async () => {
  const question = await asked();
  const { block: shown, warm } = question;
  const common = new Common({
    chain: { ...Mainnet, chainId: shown.chain_id },
    hardfork: Hardfork.Prague,
    customCrypto: { keccak256: (bytes) => new Uint8Array(keccak256.arrayBuffer(bytes)) },
  });
  const vm = await createVM({ common, stateManager: await filled(question.state, common) });
  const header = {
    number: shown.number,
    timestamp: shown.time,
    gasLimit: shown.gas_limit,
    coinbase: createAddressFromString(shown.coinbase),
    baseFeePerGas: shown.base_fee,
  };
  const block = createBlock({ header }, { common, skipConsensusFormatValidation: true });
  let begun = seconds();
  const known = question.transactions.map((raw) => createTxFromRLP(hexToBytes(raw), { common }));
  for (const one of known) {
    if (one.getSenderAddress().toString() !== question.sender) throw new Error("another sender");
  }
  const recovery = seconds() - begun;
  const gas = [];
  let used = 0n;
  for (const [number, tx] of known.entries()) {
    if (number === warm) begun = seconds();
    const found = await runTx(vm, { tx, block, blockGasUsed: used });
    used += found.totalGasSpent;
    gas.push(Number(found.totalGasSpent));
  }
  const spent = seconds() - begun;
  if (gas.some((one, at) => one !== question.gas[at])) throw new Error("the gas differs");
  await told({
    jobs: known.length - warm,
    cpu_s: spent,
    recovery_us: (1e6 * recovery) / known.length,
  });
};

main();
