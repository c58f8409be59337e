// The WASM Reed-Solomon code of @typeberry/native on a full JAM chain's shards: how long a payload
// takes to become shards, and how long 342 of the 1,023 shards take to become the payload again.
//
// It wants shards of a multiple of 64 bytes, in each 64 of which the low bytes of 32 words come
// before the high ones. The chain's shards are plain words, so both ways lead through that order,
// and it is timed with them: what is compared are bytes of the chain. What its own calls take
// without it is told too.

const { createHash } = require("node:crypto");
const { join } = require("node:path");
const readline = require("node:readline");
const { pathToFileURL } = require("node:url");
const { told } = require("./wire.cjs");

const ORIGINALS = 342;
const SHARDS = 1023;
const BYTES = 4 << 20; // Of all payloads of one kind of work, though never fewer than four.

const stretched = (words, bytes) =>
  createHash("shake256", { outputLength: bytes }).update(words).digest();

// The same choice as laneway's: the shards with the least of so many drawn numbers.
const chosen = (seed) => {
  const drawn = stretched(`laneway shards ${seed}`, 8 * SHARDS);
  const keys = Array.from({ length: SHARDS }, (_, index) => drawn.readBigUInt64BE(8 * index));
  const order = keys.map((key, index) => [key, index]);
  order.sort(([a], [b]) => (a < b ? -1 : 1));
  return order.slice(0, ORIGINALS).map(([, index]) => index);
};

// Rows of so many words, in its order, with zeros behind the words and behind the last row.
const ordered = (words, count, rows, filled) => {
  const found = new Uint8Array(rows * filled);
  for (let from = 0, to = 0; from < words.length; from += count, to += filled) {
    const row = Math.min(count, words.length - from);
    for (let at = 0, place = to; at < row; at += 32, place += 64) {
      const end = Math.min(32, row - at);
      for (let k = 0; k < end; k++) {
        const word = words[from + at + k];
        found[place + k] = word;
        found[place + 32 + k] = word >> 8;
      }
    }
  }
  return found;
};

const plain = (bytes, count, filled) => {
  const found = new Uint16Array((bytes.length / filled) * count);
  for (let from = 0, to = 0; from < bytes.length; from += filled, to += count) {
    for (let at = 0, place = from; at < count; at += 32, place += 64) {
      const end = Math.min(32, count - at);
      for (let k = 0; k < end; k++) {
        found[to + at + k] = bytes[place + k] | (bytes[place + 32 + k] << 8);
      }
    }
  }
  return found;
};

class Code {
  constructor({ ShardsCollection, encode, decode }, size) {
    this.count = Math.ceil(size / (2 * ORIGINALS)); // Words of a shard.
    this.filled = 64 * Math.ceil(this.count / 32);
    this.encodeCall = (originals) =>
      encode(SHARDS - ORIGINALS, new ShardsCollection(this.filled, originals)).take_data();
    this.decodeCall = (given, indices) => {
      const shards = new ShardsCollection(this.filled, given, indices);
      const found = decode(ORIGINALS, SHARDS - ORIGINALS, shards);
      return [found.take_indices(), found.take_data()];
    };
  }

  encoded(payload) {
    const { count, filled } = this;
    return plain(this.encodeCall(ordered(payload, count, ORIGINALS, filled)), count, filled);
  }

  decoded(given, indices) {
    const { count, filled } = this;
    const found = new Uint16Array(ORIGINALS * count);
    for (const [place, index] of indices.entries()) {
      if (index < ORIGINALS) {
        found.set(given.subarray(place * count, (place + 1) * count), index * count);
      }
    }
    const [restored, bytes] = this.decodeCall(ordered(given, count, ORIGINALS, filled), indices);
    const rows = plain(bytes, count, filled);
    for (const [place, index] of restored.entries()) {
      found.set(rows.subarray(place * count, (place + 1) * count), index * count);
    }
    return found;
  }
}

// The best of some: whatever else the machine does can only add to it.
const seconds = (repeats, work) => {
  let best = Infinity;
  for (let number = 0; number < repeats; number++) {
    const begun = process.hrtime.bigint();
    work();
    best = Math.min(best, Number(process.hrtime.bigint() - begun) / 1e9);
  }
  return best;
};

const measured = (library, { bytes: size, seed }) => {
  const code = new Code(library, size);
  const { count, filled } = code;
  const bytes = new Uint8Array(stretched(`laneway payload ${seed}`, size));
  const payload = new Uint16Array(bytes.buffer);
  const shards = new Uint16Array(SHARDS * count);
  shards.set(payload);
  shards.set(code.encoded(payload), ORIGINALS * count);
  const indices = Uint16Array.from(chosen(seed));
  const given = new Uint16Array(ORIGINALS * count);
  for (const [place, index] of indices.entries()) {
    given.set(shards.subarray(index * count, (index + 1) * count), place * count);
  }
  const digest = createHash("sha256").update(shards).update(code.decoded(given, indices));
  const originals = ordered(payload, count, ORIGINALS, filled);
  const received = ordered(given, count, ORIGINALS, filled);
  const repeats = Math.max(4, Math.floor(BYTES / size));
  return {
    digest: digest.digest("hex"),
    encode_s: seconds(repeats, () => code.encoded(payload)),
    decode_s: seconds(repeats, () => code.decoded(given, indices)),
    encode_call_s: seconds(repeats, () => code.encodeCall(originals)),
    decode_call_s: seconds(repeats, () => code.decodeCall(received, indices)),
  };
};

const main = async () => {
  // It has no form for `require`, and NODE_PATH says nothing to `import`.
  const place = join(process.env.NODE_PATH, "@typeberry", "native", "index.js");
  const { init, reedSolomon } = await import(pathToFileURL(place));
  await init.reedSolomon();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    await told(measured(reedSolomon, JSON.parse(line)));
  }
};

main();
