// Where npm's @typeberry/lib is, and which parts of it the network is made of.
//
// The package is installed beside the checkout's other tools, so Node's own search from this folder
// does not find it. What the network needs is partly outside the package's list of exports
// (in-core, safrole, configs), so every part is imported by its file.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const checkout = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folder = process.env.TYPEBERRY_FOLDER ?? join(checkout, ".tools", "typeberry");
const packages = join(folder, "node_modules", "@typeberry", "lib", "packages");

/** One module of the package. */
const part = (path) => import(pathToFileURL(join(packages, path)).href);

export const { WebSocketServer } = createRequire(join(folder, "package.json"))("ws");

export const { Bytes, BytesBlob, BitVec } = await part("core/bytes/index.js");
export const { Decoder, Encoder } = await part("core/codec/index.js");
export const { asKnownSize, FixedSizeArray, HashDictionary } = await part(
  "core/collections/index.js",
);
export const { ed25519, initWasm, keyDerivation } = await part("core/crypto/index.js");
export const { Blake2b, HASH_SIZE, keccak, WithHash } = await part("core/hash/index.js");
export const { Level, Logger } = await part("core/logger/index.js");
export const { tryAsU32 } = await part("core/numbers/index.js");

export const block = await part("jam/block/index.js");
export const constants = await part("jam/block/gp-constants.js");
export const { PvmBackend, tinyChainSpec } = await part("jam/config/index.js");
export const { InMemoryBlocks, InMemorySerializedStates } = await part("jam/database/index.js");
export const { InCore } = await part("jam/in-core/index.js");
export const { Safrole } = await part("jam/safrole/safrole.js");
export const { default: vrf } = await part("jam/safrole/bandersnatch-vrf.js");
export const { BandernsatchWasm } = await part("jam/safrole/bandersnatch-wasm.js");
export const { JAM_ENTROPY } = await part("jam/safrole/constants.js");
export const account = await part("jam/state/index.js");
export const { StateEntries } = await part("jam/state-merkleization/index.js");
export const { stateKeys, StateKeyIdx } = await part("jam/state-merkleization/keys.js");
export const { REPORT_TIMEOUT_GRACE_PERIOD } = await part("jam/transition/assurances.js");
export const { DbHeaderChain, OnChain, StfErrorKind } = await part("jam/transition/chain-stf.js");
export const { TransitionHasher } = await part("jam/transition/hasher.js");
export const { ReportsError } = await part("jam/transition/reports/error.js");
export const { generateCoreAssignment } = await part(
  "jam/transition/reports/guarantor-assignment.js",
);
export const { G_A } = await part("jam/transition/reports/verify-post-signature.js");
export const { EpochTracker } = await part("workers/block-authorship/epoch-tracker.js");
export const { Importer, ImporterErrorKind } = await part("workers/importer/importer.js");
export const { configs } = await part("configs/index.js");

/**
 * The same bytes in memory of their own. The library encodes into buffers that reserve 20 MB of
 * addresses each; a chain that kept them would run out of mappings after some thousand blocks.
 */
export const compact = (blob) => BytesBlob.blobFrom(new Uint8Array(blob.raw));

/** The bytes of an object, to be kept. */
export const encoded = (codec, value, spec) => compact(Encoder.encodeObject(codec, value, spec));

/** The values that states refer to, in compact form. */
export class CompactValues extends HashDictionary {
  set(hash, value) {
    super.set(hash, compact(value));
  }
}
