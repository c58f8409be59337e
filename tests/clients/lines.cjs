// What every client script here shares: how a step is told, and how it is waited for.

// One line a step, with its keys in order; numbers beyond a double are decimal strings.
const canonical = (value) => {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== "object") return value ?? null;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, canonical(value[key])]));
};

exports.told = (step, found) =>
  process.stdout.write(JSON.stringify({ step, found: canonical(found) }) + "\n");

exports.until = async (what, isSo) => {
  const lastMs = Date.now() + 20_000;
  while (!(await isSo())) {
    if (Date.now() > lastMs) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

// Storage of a mapping from addresses: where OpenZeppelin's ERC20 keeps balances.
exports.ERC20 = [
  "constructor(uint256 supply)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function totalSupply() view returns (uint256)",
  "function balanceOf(address owner) view returns (uint256)",
  "function transfer(address to, uint256 value) returns (bool)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
];

// Of a tree of calls, without what its node chose.
exports.called = (call) => ({
  ...Object.fromEntries(
    ["type", "from", "to", "value", "gas", "gasUsed", "error", "revertReason"].map((name) => [
      name,
      call[name],
    ]),
  ),
  input: call.input.slice(0, 10),
  output: call.output,
  calls: (call.calls ?? []).map(exports.called),
});

exports.stepped = ({ gas, failed, returnValue, structLogs }) => ({
  gas: Number(gas),
  failed,
  returnValue,
  count: structLogs.length,
  costs: structLogs.reduce((total, one) => total + one.gasCost, 0),
  ops: structLogs.slice(0, 8).map(({ pc, op, depth, stack }) => ({ pc, op, depth, stack })),
});
