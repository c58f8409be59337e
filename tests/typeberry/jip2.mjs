// The methods of JIP-2 (as merged in March 2026) on the dev network, and those that steer it.
//
// A method is its parameters' kinds and a function; sockets and subscriptions are in rpc.mjs.
// Hashes are padded base64 on the wire and here; blobs are bytes here.
//
//   dev_produce({slot, parent, noGuarantee, noAssure})   a block, by default in the next slot upon
//       the best one, which it becomes; noGuarantee is true or cores that get no report, noAssure
//       the cores whose report nobody assures. The answer says what the block reported, made
//       available and accumulated, what is pending and queued after it, and which packages it
//       refused, why, and whether they were dropped or still wait.
//   dev_finality(depth | "freeze" | "thaw")   how deep below the best block a block is final
//   dev_accumulated(header_hash, package)     whether the history of accumulation names it
//   dev_block(header_hash)                    what dev_produce told, with the encoded parts
//   dev_state(header_hash)                    every key and value of the state, in their order
//   dev_subscriptions()                       how many are open and were opened (in rpc.mjs)
//   dev_reset(depth)                          a new chain; connections are cut (in rpc.mjs)

import {
  account, Bytes, BytesBlob, constants, G_A, HASH_SIZE, REPORT_TIMEOUT_GRACE_PERIOD,
  StateKeyIdx, stateKeys, tinyChainSpec, tryAsU32,
} from "./library.mjs";
import { descriptor, Impossible, RECENT_BLOCK_COUNT, UnknownBlock } from "./network.mjs";
import { NotTaken, text } from "./work.mjs";

/** An error as JIP-2 and JSON-RPC tell it. */
export class Fault extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const OTHER = 0;
const BLOCK_UNAVAILABLE = 1;
const REPORT_UNAVAILABLE = 2;
const INVALID_PARAMS = -32602;

// The kinds of parameters: each takes the JSON value and gives what the methods work with.

const wrong = (why) => {
  throw new Fault(INVALID_PARAMS, `Invalid params: ${why}`);
};
const blob = (value) => {
  if (typeof value !== "string") wrong("a blob is a string");
  const bytes = Buffer.from(value, "base64");
  return bytes.toString("base64") === value ? bytes : wrong("not padded base64");
};
const hash = (value) => {
  if (blob(value).length !== HASH_SIZE) wrong("Invalid hash length.");
  return value;
};
const below = (bound) => (value) =>
  Number.isInteger(value) && value >= 0 && value < bound ? value : wrong("not a number in range");
const number = below(2 ** 32);
const core = below(2 ** 16);
const flag = (value) => (typeof value === "boolean" ? value : wrong("not a boolean"));
const blobs = (value) => (Array.isArray(value) ? value.map(blob) : wrong("not an array"));
export const blockCount = below(2 ** 16);
const depth = (value) => (value === "freeze" || value === "thaw" ? value : blockCount(value));
const cores = (value) => (Array.isArray(value) ? value.map(core) : wrong("not an array of cores"));
const wishes = (value = {}) => {
  if (value === null || typeof value !== "object" || Array.isArray(value)) wrong("not an object");
  const { slot, parent, noGuarantee, noAssure, ...rest } = value;
  if (Object.keys(rest).length > 0) wrong(`unknown: ${Object.keys(rest)}`);
  return {
    slot: slot === undefined ? undefined : number(slot),
    parent: parent === undefined ? undefined : hash(parent),
    noGuarantee: [undefined, true, false].includes(noGuarantee) ? noGuarantee : cores(noGuarantee),
    noAssure: noAssure === undefined ? undefined : cores(noAssure),
  };
};

const bytesOf = (id) => Bytes.fromBlob(new Uint8Array(Buffer.from(id, "base64")), HASH_SIZE);
const textOrNull = (bytes) => (bytes === null ? null : text(bytes));

// What may be asked of the state after a block, and be followed as the chain goes on. Each is a
// method with the block's hash before its own parameters, and a subscription with a flag behind.

const entry = (network, at, key) => textOrNull(network.state(at.id).backend.get(key));
const OF_STATE = {
  statistics: {
    kinds: [],
    read: (network, at) => entry(network, at, stateKeys.index(StateKeyIdx.Pi)),
  },
  serviceData: {
    kinds: [number],
    read: (network, at, id) => entry(network, at, stateKeys.serviceInfo(id)),
  },
  serviceValue: {
    kinds: [number, blob],
    read(network, at, id, key) {
      const { blake2b } = network.hasher;
      const named = BytesBlob.blobFrom(new Uint8Array(key));
      return entry(network, at, stateKeys.serviceStorage(blake2b, id, named));
    },
  },
  servicePreimage: {
    kinds: [number, hash],
    read(network, at, id, wanted) {
      const { blake2b } = network.hasher;
      return entry(network, at, stateKeys.servicePreimage(blake2b, id, bytesOf(wanted)));
    },
  },
  serviceRequest: {
    kinds: [number, hash, number],
    read(network, at, id, wanted, length) {
      const service = network.state(at.id).getService(id);
      const slots = service?.getLookupHistory(bytesOf(wanted).asOpaque(), tryAsU32(length));
      return slots ? [...slots] : null;
    },
  },
  workPackageStatus: {
    kinds: [hash, hash],
    read: (network, at, id, anchor) => network.status(at, id, network.block(anchor)),
  },
};

const HEADS = {
  subscribeBestBlock: (network) => network.best,
  subscribeFinalizedBlock: (network) => network.final,
};

/**
 * By the name of the method that opens one: its kinds, and what there is to tell of the chain as it
 * is now; it is told when the value is another than before.
 */
export const SUBSCRIPTIONS = new Map();
for (const [name, head] of Object.entries(HEADS)) {
  const now = (network) => {
    const result = descriptor(head(network));
    return { value: result, result };
  };
  SUBSCRIPTIONS.set(name, { kinds: [], now });
}
for (const [name, { kinds, read }] of Object.entries(OF_STATE)) {
  const now = (network, ...given) => {
    const isFinal = given.pop();
    const at = isFinal ? network.final : network.best;
    const value = read(network, at, ...given);
    return { value, result: { ...descriptor(at), value } };
  };
  SUBSCRIPTIONS.set(`subscribe${name[0].toUpperCase()}${name.slice(1)}`, {
    kinds: [...kinds, flag],
    now,
  });
}

const NOT_SERVED = [
  "submitWorkPackageBundle", "submitPreimage", "fetchWorkPackageSegments", "fetchSegments",
  "subscribeSyncStatus", "unsubscribeSyncStatus",
];

export const METHODS = new Map(
  Object.entries({
    parameters: [[], () => ({ V1: PARAMETERS })],
    bestBlock: [[], (network) => descriptor(network.best)],
    finalizedBlock: [[], (network) => descriptor(network.final)],
    parent: [[hash], (network, id) => descriptor(network.block(parentOf(network, id)))],
    stateRoot: [[hash], (network, id) => text(network.block(id).root)],
    beefyRoot: [
      [hash],
      (network, id) => text(network.state(id).recentBlocks.blocks.at(-1).accumulationResult),
    ],
    listServices: [[hash], (network, id) => services(network.state(id))],
    workReport: [[hash], workReport],
    submitWorkPackage: [[core, blob, blobs], submitWorkPackage],
    syncState: [[], () => ({ num_peers: 0, status: "Completed" })],
    ...Object.fromEntries(
      Object.entries(OF_STATE).map(([name, { kinds, read }]) => [
        name,
        [[hash, ...kinds], (network, id, ...given) => read(network, network.block(id), ...given)],
      ]),
    ),
    dev_produce: [[wishes], (network, wish) => network.produce(wish)],
    dev_finality: [[depth], (network, wish) => network.finality(wish)],
    dev_accumulated: [[hash, hash], isAccumulated],
    dev_block: [[hash], wholeBlock],
    dev_state: [[hash], (network, id) => entries(network.state(id))],
  }),
);

/** Answer one call, whatever it is; every trouble becomes a fault. */
export async function answered(network, method, params) {
  if (NOT_SERVED.includes(method)) throw new Fault(OTHER, "Method not implemented");
  const found = METHODS.get(method);
  if (found === undefined) throw new Fault(-32601, `Method not found: ${method}`);
  const [kinds, answer] = found;
  return translated(() => answer(network, ...read(kinds, params)));
}

export async function translated(ask) {
  try {
    return await ask();
  } catch (problem) {
    if (problem instanceof UnknownBlock) {
      throw new Fault(BLOCK_UNAVAILABLE, problem.message, problem.hash);
    }
    if (problem instanceof NotTaken || problem instanceof Impossible) {
      throw new Fault(OTHER, problem.message);
    }
    throw problem;
  }
}

export function read(kinds, params = []) {
  if (!Array.isArray(params)) wrong("parameters are given by position");
  // The wishes for a block may be left away.
  const least = kinds.filter((kind) => kind !== wishes).length;
  if (params.length < least || params.length > kinds.length) {
    wrong(`expected ${kinds.length} and got ${params.length}`);
  }
  return kinds.map((kind, index) => kind(params[index]));
}

function parentOf(network, id) {
  return network.block(id).parent ?? text(Bytes.zero(HASH_SIZE));
}

function workReport(network, id) {
  const found = network.reports.get(id);
  if (found === undefined) throw new Fault(REPORT_UNAVAILABLE, "Work-report unavailable", id);
  return text(found);
}

function submitWorkPackage(network, at, bytes, extrinsics) {
  const plain = (one) => new Uint8Array(one);
  network.work.take(at, plain(bytes), extrinsics.map(plain));
  return null;
}

/** Whether the package is in the history of accumulation, which reaches back one epoch. */
function isAccumulated(network, id, wanted) {
  const history = network.state(id).recentlyAccumulated;
  return history.some((ids) => ids.has(bytesOf(wanted).asOpaque()));
}

function wholeBlock(network, id) {
  const one = network.block(id);
  const header = network.blocks.getHeader(one.hash);
  const extrinsic = network.blocks.getExtrinsic(one.hash);
  const parts = { header: text(header.encoded()), extrinsic: text(extrinsic.encoded()) };
  return { ...network.told(one), ...parts };
}

function entries(state) {
  const found = [...state.backend.intoStateEntries()];
  found.sort(([one], [other]) => Buffer.compare(one.raw, other.raw));
  return found.map(([key, value]) => [text(key), text(value)]);
}

/** The services whose account is in the state. */
function services(state) {
  const found = [];
  for (const [{ raw }] of state.backend.intoStateEntries()) {
    const id = raw[1] + raw[3] * 2 ** 8 + raw[5] * 2 ** 16 + raw[7] * 2 ** 24;
    const key = stateKeys.serviceInfo(tryAsU32(id)).raw.subarray(0, raw.length);
    if (Buffer.compare(key, raw) === 0) found.push(id);
  }
  return found.sort((a, b) => a - b);
}

const spec = tinyChainSpec;
const PARAMETERS = {
  deposit_per_item: Number(account.ELECTIVE_ITEM_BALANCE),
  deposit_per_byte: Number(account.ELECTIVE_BYTE_BALANCE),
  deposit_per_account: Number(account.BASE_SERVICE_BALANCE),
  core_count: spec.coresCount,
  min_turnaround_period: spec.preimageExpungePeriod,
  epoch_period: spec.epochLength,
  max_accumulate_gas: G_A,
  max_is_authorized_gas: constants.G_I,
  max_refine_gas: Number(spec.maxRefineGas),
  block_gas_limit: Number(spec.maxBlockGas),
  recent_block_count: RECENT_BLOCK_COUNT,
  max_work_items: constants.I,
  max_dependencies: constants.MAX_REPORT_DEPENDENCIES,
  max_tickets_per_block: spec.maxTicketsPerExtrinsic,
  max_lookup_anchor_age: spec.maxLookupAnchorAge,
  tickets_attempts_number: spec.ticketsPerValidator,
  auth_window: constants.O,
  slot_period_sec: spec.slotDuration,
  auth_queue_len: constants.Q,
  rotation_period: spec.rotationPeriod,
  max_extrinsics: constants.T,
  availability_timeout: REPORT_TIMEOUT_GRACE_PERIOD,
  val_count: spec.validatorsCount,
  max_authorizer_code_size: constants.W_A,
  max_input: constants.W_B,
  max_service_code_size: constants.W_C,
  basic_piece_len: spec.erasureCodedPieceSize,
  max_imports: constants.W_M,
  segment_piece_count: spec.numberECPiecesPerSegment,
  max_report_elective_data: 48 * 1024,
  transfer_memo_size: constants.W_T,
  max_exports: constants.W_X,
  epoch_tail_start: spec.contestLength,
};
