// The contracts of `laneway bench evm` by solc: creation code by name, as one JSON line.

const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");
const solc = require("solc");

const folder = join(__dirname, "contracts");
const names = readdirSync(folder).filter((name) => name.endsWith(".sol"));
const sources = Object.fromEntries(
  names.map((name) => [name, { content: readFileSync(join(folder, name), "utf8") }]),
);
const input = {
  language: "Solidity",
  sources,
  settings: {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: "prague",
    metadata: { bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
  },
};
const found = (path) => ({ contents: readFileSync(join(process.env.NODE_PATH, path), "utf8") });
const { contracts, errors = [] } = JSON.parse(
  solc.compile(JSON.stringify(input), { import: found }),
);
const wrong = errors.filter((error) => error.severity === "error");
if (wrong.length) {
  process.stderr.write(wrong.map((error) => error.formattedMessage).join("\n"));
  process.exit(1);
}
const codes = names.map((name) => {
  const contract = name.replace(".sol", "");
  return [contract, contracts[name][contract].evm.bytecode.object];
});
process.stdout.write(JSON.stringify(Object.fromEntries(codes)) + "\n");
