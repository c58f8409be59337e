// A JAM chain of one process with real state transitions: npm's @typeberry/lib (MPL-2.0, Gray Paper
// 0.7.2, the tiny sizes) wired into a dev network that makes a block when it is told to.
//
// Real: the importer with every check of the state transition, Bandersnatch seals, Safrole,
// refinement and accumulation in the PVM, guarantees by the validators that are assigned,
// assurances by all six.
// Left out: the network between validators, tickets (all blocks are sealed by the fallback keys),
// votes of finality (a block is final at a depth that is set), segments and erasure coding.
// The same calls give the same bytes.

import {
  Blake2b, block, Bytes, BytesBlob, CompactValues, configs, DbHeaderChain, Decoder, Importer,
  ImporterErrorKind, initWasm, InMemoryBlocks, InMemorySerializedStates, keccak, Level, Logger,
  OnChain, PvmBackend, ReportsError, StateEntries, StfErrorKind, tinyChainSpec, TransitionHasher,
  WithHash,
} from "./library.mjs";
import { must, Validators } from "./validators.mjs";
import { text, Work } from "./work.mjs";

const STATE_KEY_BYTES = 31;
export const RECENT_BLOCK_COUNT = 8;
const TRIAL_COUNT_MAX = 32;

/** A call that the chain cannot follow, in words. */
export class Impossible extends Error {}

/** A block that the chain does not have; its hash as text. */
export class UnknownBlock extends Error {
  constructor(hash) {
    super(`Block unavailable: ${hash}`);
    this.hash = hash;
  }
}

export class Network {
  static async open({ finalityDepth }) {
    Logger.configureAll("", Level.WARN, "");
    await initWasm();
    const spec = tinyChainSpec;
    const blake2b = await Blake2b.createHasher();
    const hasher = TransitionHasher.new(await keccak.KeccakHasher.create(), blake2b);
    const blocks = InMemoryBlocks.new();
    const states = InMemorySerializedStates.withHasher({ chainSpec: spec, blake2b });
    states.valuesDb = new CompactValues();
    const genesis = await seeded(spec, blake2b, blocks, states);
    const logger = Logger.new(undefined, "importer");
    const pvm = PvmBackend.BuiltIn;
    const importer = Importer.open({ spec, pvm, hasher, logger, blocks, states });
    const validators = await Validators.open(spec, hasher);
    const work = new Work(spec, states, blake2b);
    return new Network({
      spec, hasher, blocks, states, importer, validators, work, genesis, finalityDepth,
    });
  }

  constructor(parts) {
    Object.assign(this, parts);
    this.byHash = new Map([[this.genesis.id, this.genesis]]);
    this.reports = new Map();
    this.best = this.genesis;
    this.final = this.genesis;
    this.isFrozen = false;
    this.turn = Promise.resolve();
    /** Called whenever the best or the final block has changed. */
    this.onHead = () => {};
  }

  block(id) {
    const found = this.byHash.get(id);
    if (found === undefined) throw new UnknownBlock(id);
    return found;
  }

  state(id) {
    return this.states.getState(this.block(id).hash);
  }

  /** Whether `older` is `newer` or before it on its fork. */
  isAncestor(older, newer) {
    let at = newer;
    while (at.number > older.number) at = this.byHash.get(at.parent);
    return at === older;
  }

  /** Make the next block. One at a time, however many ask. */
  produce(wishes) {
    const made = this.turn.then(() => this.extend(wishes));
    this.turn = made.catch(() => {});
    return made;
  }

  async extend({ slot, parent: parentId, noGuarantee = false, noAssure = [] }) {
    const parent = parentId === undefined ? this.best : this.block(parentId);
    const at = block.tryAsTimeSlot(slot ?? parent.slot + 1);
    if (at <= parent.slot) throw new Impossible(`slot ${at} is not after ${parent.slot}`);
    if (!this.isAncestor(this.final, parent)) {
      throw new Impossible("the parent is not upon the final block");
    }
    const state = this.state(parent.id);
    const pending = state.availabilityAssignment;
    const assured = [...pending.keys()].filter((core) => pending[core] && !noAssure.includes(core));
    const assurances = await this.validators.assurances(parent, state, assured);
    const draft = await this.validators.draft(parent, state, at);
    const opening = { parent, state, slot: at, draft, assurances };
    const { chosen, refused } = await this.filled(opening, noGuarantee);
    const available = assured.map((core) => text(pending[core].workReport.workPackageSpec.hash));
    const made = this.record(parent, at, { chosen, available });
    this.lead(made);
    return { ...this.told(made), refused };
  }

  /**
   * Import the block with as many of the waiting packages as the state transition takes: first with
   * the oldest of each core, and if it refuses those then with what it was seen to accept.
   */
  async filled(opening, noGuarantee) {
    const refused = [];
    const open = noGuarantee === true ? [] : this.work.waiting.filter(
      (one) => !(noGuarantee || []).includes(one.core),
    );
    let chosen = [];
    for (const one of open) {
      const isTaken = chosen.some((other) => other.core === one.core);
      if (!isTaken && (await this.isRefined(one, refused))) chosen.push(one);
    }
    let said = await this.imported(opening, chosen);
    if (isAboutReports(said)) {
      const left = open.filter((one) => this.work.waiting.includes(one));
      chosen = await this.tried(opening, left, refused);
      said = await this.imported(opening, chosen);
    }
    if (said.isError) throw new Impossible(said.details());
    for (const one of chosen) this.work.drop(one);
    return { chosen, refused };
  }

  /** Whether the guarantors have a report of the package; if they can have none it is dropped. */
  async isRefined(one, refused) {
    const report = await this.work.report(one);
    if (report.refused === undefined) return true;
    this.work.drop(one);
    refused.push(verdict(one, report.refused, true));
    return false;
  }

  async imported(opening, chosen) {
    return this.importer.importBlock(await this.sealed(opening, chosen));
  }

  async sealed({ draft, state, slot, assurances }, chosen) {
    const byCore = [...chosen].sort((a, b) => a.core - b.core);
    const guarantees = [];
    for (const { report } of byCore) {
      guarantees.push(await this.validators.guarantee(report.made, report.hash, state, slot));
    }
    return this.validators.seal(draft, { guarantees, assurances });
  }

  /** Which of the packages the state transition accepts together, tried one after the other. */
  async tried(opening, open, refused) {
    const { spec, hasher, blocks } = this;
    const stf = OnChain.assemble({
      chainSpec: spec,
      state: opening.state,
      hasher,
      options: { pvm: PvmBackend.BuiltIn, accumulateSequentially: false },
      headerChain: DbHeaderChain.new(blocks),
    });
    let left = TRIAL_COUNT_MAX;
    const judge = async (set) => {
      left -= 1;
      const view = await this.sealed(opening, set);
      return stf.transition(view, hasher.header(view.header.view()).hash);
    };
    const chosen = [];
    const closed = new Set();
    for (const one of open) {
      if (left < 2) break;
      if (closed.has(one.core) || !(await this.isRefined(one, refused))) continue;
      let set = [one];
      let said = await judge([...chosen, one]);
      if (said.isError && said.error.error === ReportsError.DependencyMissing) {
        // What it waits for may stand in the same block, on a core that is still free.
        const others = prerequisitesOf(one, open, closed);
        const reports = await Promise.all(others.map((other) => this.work.report(other)));
        if (others.length > 0 && reports.every((report) => report.refused === undefined)) {
          set = [one, ...others];
          const together = await judge([...chosen, ...set]);
          if (together.isOk) said = together;
        }
      }
      if (said.isOk) {
        chosen.push(...set);
        for (const { core } of set) closed.add(core);
      } else if (said.error.kind === StfErrorKind.Reports) {
        if (said.error.error === ReportsError.CoreEngaged) closed.add(one.core);
        refused.push(this.judged(opening, one, said));
      } else {
        must(said);
      }
    }
    return chosen;
  }

  /** A package that a block did not take stays as long as a later block may take it. */
  judged({ parent, slot }, one, said) {
    const { anchor } = one.made.context;
    const known = this.byHash.get(text(anchor));
    let isOver;
    switch (said.error.error) {
      case ReportsError.CoreEngaged:
      case ReportsError.CoreUnauthorized:
      case ReportsError.DependencyMissing:
        isOver = false;
        break;
      case ReportsError.AnchorNotRecent:
        // An anchor on another fork may become recent again, until even a lookup is too old.
        isOver = this.isAncestor(known, parent);
        isOver ||= slot - known.slot > this.spec.maxLookupAnchorAge;
        break;
      default:
        isOver = true;
    }
    if (isOver) this.work.drop(one);
    return verdict(one, said.details(), isOver);
  }

  record(parent, slot, { chosen, available }) {
    const hash = this.importer.getBestBlockHash();
    const after = this.states.getState(hash);
    const latest = after.recentlyAccumulated[this.spec.epochLength - 1];
    const made = {
      hash,
      id: text(hash),
      root: this.blocks.getPostStateRoot(hash),
      slot,
      number: parent.number + 1,
      parent: parent.id,
      reported: chosen.map(({ id, core, report }) => ({
        package: id, core, report_hash: text(report.hash),
      })),
      available,
      accumulated: [...latest].map(text),
      pending: after.availabilityAssignment.map(
        (one) => one && text(one.workReport.workPackageSpec.hash),
      ),
      queued: after.accumulationQueue.flat().map((one) => text(one.report.workPackageSpec.hash)),
    };
    for (const { report } of chosen) this.reports.set(text(report.hash), report.bytes);
    this.byHash.set(made.id, made);
    return made;
  }

  lead(made) {
    this.best = made;
    this.settle();
    this.onHead();
  }

  /** What is deep enough below the best block is final, and stays so. */
  settle() {
    if (this.isFrozen) return;
    let at = this.best;
    for (let depth = 0; depth < this.finalityDepth && at.number > 0; depth++) {
      at = this.byHash.get(at.parent);
    }
    if (at.number > this.final.number) this.final = at;
  }

  finality(wish) {
    if (wish === "freeze") this.isFrozen = true;
    else if (wish === "thaw") this.isFrozen = false;
    else this.finalityDepth = wish;
    this.settle();
    this.onHead();
    return descriptor(this.final);
  }

  told(one) {
    const { number, parent, reported, available, accumulated, pending, queued } = one;
    const lists = { reported, available, accumulated, pending, queued };
    return { ...descriptor(one), number, parent, ...lists };
  }

  /** What a package is after a block, in the words of JIP-2. */
  status(at, packageId, anchor) {
    if (!this.isAncestor(anchor, at)) {
      return { Failed: "anchor is not among the recent blocks of this fork" };
    }
    let ready = null;
    for (let one = at; one !== anchor; one = this.byHash.get(one.parent)) {
      if (one.available.includes(packageId)) ready = one;
      const found = one.reported.find((report) => report.package === packageId);
      if (found === undefined) continue;
      const { core, report_hash } = found;
      const said = { reported_in: descriptor(one), core, report_hash };
      if (ready !== null) return { Ready: { ...said, ready_in: descriptor(ready) } };
      if (at.pending[core] === packageId) return { Reported: said };
      return { Failed: "the report was not made available in time" };
    }
    const left = RECENT_BLOCK_COUNT - (at.number - anchor.number);
    if (left > 0) return { Reportable: { remaining_blocks: left } };
    return { Failed: "the package was not reported before its anchor was too old" };
  }
}

export const descriptor = ({ id, slot }) => ({ header_hash: id, slot });

const verdict = ({ id, core }, reason, dropped) => ({ package: id, core, reason, dropped });

/** Whether the importer refused a block for the reports in it. */
function isAboutReports({ isError, error }) {
  if (!isError || error.kind !== ImporterErrorKind.Stf) return false;
  return error.error.kind === StfErrorKind.Reports;
}

function prerequisitesOf(one, open, closed) {
  const wanted = one.made.context.prerequisites.map(text);
  const taken = new Set([...closed, one.core]);
  const found = [];
  for (const other of open) {
    if (!wanted.includes(other.id) || taken.has(other.core)) continue;
    taken.add(other.core);
    found.push(other);
  }
  return found;
}

/** Fill the databases with the genesis of the library's tiny dev network. */
async function seeded(spec, blake2b, blocks, states) {
  const { genesis_header, genesis_state } = configs.devTiny.chain_spec;
  const bytes = BytesBlob.parseBlobNoPrefix(genesis_header);
  const hash = blake2b.hashBytes(bytes).asOpaque();
  const header = Decoder.decodeObject(block.Header.Codec, bytes, spec);
  const { extrinsic } = block.emptyBlock();
  const made = block.Block.create({ header, extrinsic });
  const entries = StateEntries.fromEntriesUnsafe(
    Object.entries(genesis_state).map(([key, value]) => [
      Bytes.parseBytesNoPrefix(key, STATE_KEY_BYTES).asOpaque(),
      BytesBlob.parseBlobNoPrefix(value),
    ]),
  );
  const root = entries.getRootHash(blake2b);
  const view = block.reencodeAsView(block.Block.Codec, made, spec);
  await blocks.insertBlock(WithHash.new(hash, view));
  await states.insertInitialState(hash, entries);
  await blocks.setPostStateRoot(hash, root);
  await blocks.setBestHeaderHash(hash);
  const lists = { reported: [], available: [], accumulated: [], queued: [] };
  const pending = new Array(spec.coresCount).fill(null);
  const slot = header.timeSlotIndex;
  return { hash, id: text(hash), root, slot, number: 0, parent: null, ...lists, pending };
}
