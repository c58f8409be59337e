// The dev network's socket: JIP-2 over WebSocket on 127.0.0.1, and single calls over HTTP.
//
//   PORT=19800 node rpc.mjs                  blocks are made by the call dev_produce alone
//   SLOT_MS=1000 PORT=19800 node rpc.mjs     a block each so many milliseconds
//   FINALITY_DEPTH=2                         blocks below the best one that are not final yet
//   SUBSCRIPTION_COUNT_MAX=1024              on one connection; PolkaJam has such a bound
//
//   END_WITH_STDIN=1                         so that a test that dies leaves no network behind
//
// "listening on PORT" on standard output says that it is ready. Settings are read at the start.

import { createServer } from "node:http";
import { answered, blockCount, Fault, OTHER, read, SUBSCRIPTIONS, translated } from "./jip2.mjs";
import { WebSocketServer } from "./library.mjs";
import { Network } from "./network.mjs";

const MESSAGE_BYTES_MAX = 20 << 20; // A bundle of 13,791,360 bytes in base64, and some.
const TOO_MANY_SUBSCRIPTIONS = -32006;

const setting = (name, usual) => Number(process.env[name] ?? usual);
const port = setting("PORT", 19800);
const slotMs = setting("SLOT_MS", 0);
const subscriptionCountMax = setting("SUBSCRIPTION_COUNT_MAX", 1024);

const connections = new Set();
let subscriptionNext;
let network;

/** A chain that has only its genesis; who was connected to the one before is cut off. */
async function begin(finalityDepth) {
  for (const { socket } of connections) socket.terminate();
  connections.clear();
  subscriptionNext = 1;
  network = await Network.open({ finalityDepth });
  network.onHead = () => {
    for (const connection of connections) connection.tellAll();
  };
  return null;
}

/** One client: its socket and what it follows. */
class Connection {
  constructor(socket) {
    this.socket = socket;
    this.followed = new Map();
  }

  send(message) {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** What a call does here and nowhere else; undefined for every other. */
  own(method, params) {
    if (SUBSCRIPTIONS.has(method)) return this.follow(method, params);
    const opener = method.startsWith("un") ? method.slice(2) : null;
    return SUBSCRIPTIONS.has(opener) ? this.leave(opener, params) : undefined;
  }

  async follow(method, params) {
    const { kinds, now } = SUBSCRIPTIONS.get(method);
    const given = read(kinds, params);
    if (this.followed.size >= subscriptionCountMax) {
      throw new Fault(TOO_MANY_SUBSCRIPTIONS, "Too many subscriptions on the connection");
    }
    await translated(() => now(network, ...given));
    const id = subscriptionNext++;
    const one = { method, ask: () => now(network, ...given), told: undefined, isAnswered: false };
    this.followed.set(id, one);
    // The answer with the number goes first.
    setImmediate(() => {
      one.isAnswered = true;
      this.tell(id);
    });
    return id;
  }

  leave(opener, params) {
    const [id] = read([(value) => value], params);
    const isOpen = this.followed.get(id)?.method === opener;
    if (isOpen) this.followed.delete(id);
    return isOpen;
  }

  tell(id) {
    const one = this.followed.get(id);
    if (!one?.isAnswered) return;
    const { value, result } = one.ask();
    const said = JSON.stringify(value);
    if (said === one.told) return;
    one.told = said;
    this.send({ jsonrpc: "2.0", method: one.method, params: { subscription: id, result } });
  }

  tellAll() {
    for (const id of this.followed.keys()) this.tell(id);
  }
}

/** What steers the server and not the chain; undefined for every other call. */
function steer(method, params) {
  if (method === "dev_subscriptions") return subscriptions();
  if (method === "dev_reset") return begin(...read([blockCount], params));
  return undefined;
}

/** The answer to one message as JSON-RPC has it; null if none is wanted. */
async function reply(text, connection) {
  let id = null;
  try {
    const asked = parsed(text);
    const { method, params } = asked;
    id = asked.id;
    const own = steer(method, params) ?? connection?.own(method, params);
    if (own === undefined && SUBSCRIPTIONS.has(method)) {
      throw new Fault(OTHER, "a subscription needs a WebSocket");
    }
    const result = own === undefined ? await answered(network, method, params) : await own;
    return id === undefined ? null : { jsonrpc: "2.0", result, id };
  } catch (problem) {
    const isFault = problem instanceof Fault;
    if (!isFault) console.error(problem);
    const { code, message, data } = isFault ? problem : new Fault(-32603, "Internal error");
    return id === undefined ? null : { jsonrpc: "2.0", error: { code, message, data }, id };
  }
}

function parsed(text) {
  let asked;
  try {
    asked = JSON.parse(text);
  } catch {
    throw new Fault(-32700, "Parse error");
  }
  if (asked?.jsonrpc !== "2.0" || typeof asked.method !== "string") {
    throw new Fault(-32600, "Invalid request");
  }
  return asked;
}

/** How many are open, on all connections: none may be left behind. */
function subscriptions() {
  let open = 0;
  for (const { followed } of connections) open += followed.size;
  return { connections: connections.size, open, opened: subscriptionNext - 1 };
}

const server = createServer(async (request, response) => {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MESSAGE_BYTES_MAX) return response.writeHead(413).end();
    parts.push(part);
  }
  const answer = await reply(Buffer.concat(parts).toString(), null);
  response.writeHead(200, { "content-type": "application/json" });
  return response.end(JSON.stringify(answer));
});

const sockets = new WebSocketServer({ server, maxPayload: MESSAGE_BYTES_MAX });
sockets.on("connection", (socket) => {
  const connection = new Connection(socket);
  connections.add(connection);
  // Calls of one connection are answered in their order.
  let turn = Promise.resolve();
  socket.on("message", (bytes) => {
    turn = turn.then(async () => {
      const answer = await reply(bytes.toString(), connection);
      if (answer !== null) connection.send(answer);
    });
  });
  socket.on("close", () => connections.delete(connection));
  socket.on("error", () => socket.terminate());
});

async function pace() {
  const began = Date.now();
  await network.produce({});
  setTimeout(pace, Math.max(0, slotMs - (Date.now() - began)));
}

await begin(setting("FINALITY_DEPTH", 2));
const stop = () => process.exit(0);
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
if (setting("END_WITH_STDIN", 0)) process.stdin.on("end", stop).resume();
server.listen(port, "127.0.0.1", () => {
  console.log(`listening on ${server.address().port}`);
  if (slotMs > 0) pace();
});
