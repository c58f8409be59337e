// How a contestant talks to the benchmark: one JSON line in, one JSON line out.
// Its packages are found by NODE_PATH, so it is written for `require`.

const readline = require("node:readline");

exports.asked = async () => {
  const lines = readline.createInterface({ input: process.stdin });
  for await (const line of lines) return JSON.parse(line);
  throw new Error("nobody asked");
};

// Done when the pipe has it all: whoever exits before leaves half a line behind.
exports.told = (result) =>
  new Promise((resolve) => process.stdout.write(JSON.stringify({ result }) + "\n", resolve));

// Wall and CPU time since it was made; CPU is that of all threads of this process.
exports.watch = () => {
  const begun = process.hrtime.bigint();
  const cpu = process.cpuUsage();
  return () => {
    const spent = process.cpuUsage(cpu);
    return {
      seconds: Number(process.hrtime.bigint() - begun) / 1e9,
      cpu_s: (spent.user + spent.system) / 1e6,
    };
  };
};

// `jobs` calls of `work`, so many under way at once, begun in their order.
exports.together = async (jobs, width, work) => {
  let next = 0;
  const worker = async () => {
    while (next < jobs) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(jobs, width) }, worker));
};
