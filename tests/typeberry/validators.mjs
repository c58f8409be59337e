// What the six validators of the dev network do: seal blocks, guarantee reports, assure that they
// are available.
//
// Their keys are the dev keys of JIP-5. Every signature is a real one, by the validator whose turn
// it is; only the talk between validators is left out, since all of them live in this process.

import {
  asKnownSize, BandernsatchWasm, BitVec, block, Bytes, BytesBlob, Decoder, ed25519, encoded,
  EpochTracker, generateCoreAssignment, JAM_ENTROPY, keyDerivation, Logger, Safrole, vrf,
} from "./library.mjs";

const SEAL_BYTES = 96;
const GUARANTEE_PREFIX = BytesBlob.blobFromString("jam_guarantee").raw;
const AVAILABLE_PREFIX = BytesBlob.blobFromString("jam_available").raw;
const quiet = Logger.new(undefined, "validators");

/** The value of a result of the library; its words as an error otherwise. */
export function must(result) {
  if (result.isError) throw new Error(result.details());
  return result.ok;
}

export class Validators {
  static async open(spec, hasher) {
    const blake2b = hasher.blake2b;
    const secrets = [];
    const pairs = new Map();
    for (let index = 0; index < spec.validatorsCount; index++) {
      const seed = keyDerivation.trivialSeed(index);
      const secret = keyDerivation.deriveEd25519SecretKey(seed, blake2b);
      const pair = await ed25519.privateKey(secret);
      pairs.set(pair.pubKey.toString(), pair);
      const bandersnatch = keyDerivation.deriveBandersnatchSecretKey(seed, blake2b);
      secrets.push({ bandersnatch, ed25519: secret });
    }
    const bandersnatch = await BandernsatchWasm.new();
    const tracker = await EpochTracker.new(spec, bandersnatch, blake2b, secrets);
    return new Validators({ spec, hasher, pairs, bandersnatch, tracker });
  }

  constructor(parts) {
    Object.assign(this, parts);
  }

  /** A block at a slot upon a parent, ready to be sealed with one extrinsic or another. */
  async draft(parent, state, slot) {
    const epoch = must(await this.tracker.getEpochData(quiet, state, slot));
    const seat = epoch.slots[slot % this.spec.epochLength];
    if (seat === null) throw new Error(`no validator here may seal slot ${slot}`);
    const { key, sealPayload } = seat;
    const secret = key.bandersnatchSecret;
    const entropy = must(await vrf.getVrfOutputHash(this.bandersnatch, secret, sealPayload));
    const input = BytesBlob.blobFromParts([JAM_ENTROPY, entropy.raw]);
    const entropySource = must(
      await vrf.generateSeal(this.bandersnatch, secret, input, BytesBlob.empty()),
    );
    const marks = must(
      await new Safrole(this.spec, this.hasher.blake2b, state).blockAuthorshipTransition({
        entropy: entropy.asOpaque(),
        slot,
        extrinsic: [],
        punishSet: state.disputesRecords.punishSet,
      }),
    );
    const author = this.active(state, slot).findIndex((validator) =>
      validator.bandersnatch.isEqualTo(key.bandersnatchPublic),
    );
    return {
      secret,
      sealPayload,
      header: {
        parentHeaderHash: parent.hash,
        priorStateRoot: parent.root,
        timeSlotIndex: slot,
        epochMarker: marks.epochMark,
        ticketsMarker: marks.ticketsMark,
        offendersMarker: [],
        bandersnatchBlockAuthorIndex: block.tryAsValidatorIndex(author),
        entropySource,
      },
    };
  }

  /** The draft's block with these guarantees and assurances, sealed. */
  async seal(draft, { guarantees, assurances }) {
    const extrinsic = block.Extrinsic.create({
      tickets: asKnownSize([]),
      preimages: [],
      guarantees: asKnownSize(guarantees),
      assurances: asKnownSize(assurances),
      disputes: block.DisputesExtrinsic.create({ verdicts: [], culprits: [], faults: [] }),
    });
    const view = block.reencodeAsView(block.Extrinsic.Codec, extrinsic, this.spec);
    const fields = { ...draft.header, extrinsicHash: this.hasher.extrinsic(view).hash };
    const unsealed = block.reencodeAsView(
      block.Header.Codec,
      block.Header.create({ ...fields, seal: Bytes.zero(SEAL_BYTES).asOpaque() }),
      this.spec,
    );
    const said = block.encodeUnsealedHeader(unsealed);
    const seal = must(
      await vrf.generateSeal(this.bandersnatch, draft.secret, draft.sealPayload, said),
    );
    const header = block.Header.create({ ...fields, seal });
    const whole = block.Block.create({ header, extrinsic });
    const bytes = encoded(block.Block.Codec, whole, this.spec);
    return Decoder.decodeObject(block.Block.Codec.View, bytes, this.spec);
  }

  /** The report with the signatures of those who are assigned to its core at the slot. */
  async guarantee(report, reportHash, state, slot) {
    const active = this.active(state, slot);
    // The second entropy of the block to be, which moves up when an epoch begins.
    const entropy = state.entropy[this.begins(state, slot) ? 1 : 2];
    const cores = generateCoreAssignment(this.spec, this.hasher.blake2b, entropy, slot);
    const said = BytesBlob.blobFromParts(GUARANTEE_PREFIX, reportHash.raw);
    const credentials = [];
    for (const [index, core] of cores.entries()) {
      if (core !== report.coreIndex) continue;
      const signature = await this.signed(active[index], said);
      const validatorIndex = block.tryAsValidatorIndex(index);
      credentials.push(block.Credential.create({ validatorIndex, signature }));
    }
    return block.ReportGuarantee.create({ report, slot, credentials: asKnownSize(credentials) });
  }

  /** All six say that they hold their pieces of what is pending on these cores. */
  async assurances(parent, state, cores) {
    if (cores.length === 0) return [];
    const bitfield = BitVec.empty(this.spec.coresCount);
    for (const core of cores) bitfield.setBit(core, true);
    const { blake2b } = this.hasher;
    const subject = blake2b.hashBytes(BytesBlob.blobFromParts(parent.hash.raw, bitfield.raw));
    const said = BytesBlob.blobFromParts(AVAILABLE_PREFIX, subject.raw);
    const made = [];
    // Those who were active before the block: the assurances are about its parent.
    for (const [index, validator] of state.currentValidatorData.entries()) {
      const signature = await this.signed(validator, said);
      const validatorIndex = block.tryAsValidatorIndex(index);
      const fields = { anchor: parent.hash, bitfield, validatorIndex, signature };
      made.push(block.AvailabilityAssurance.create(fields));
    }
    return made;
  }

  signed(validator, said) {
    return ed25519.sign(this.pairs.get(validator.ed25519.toString()), said);
  }

  /** The validators of a block at the slot. */
  active(state, slot) {
    return this.begins(state, slot) ? state.nextValidatorData : state.currentValidatorData;
  }

  /** Whether a block at the slot is the first of its epoch. */
  begins(state, slot) {
    return this.tracker.isEpochChanged(state.timeslot, slot);
  }
}
