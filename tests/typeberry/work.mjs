// Work packages on their way to a core: read, kept until they are reported, refined by the PVM.
//
// Left out is what the library does not have: imported and exported segments, erasure roots. A
// package that needs them is refused when it is handed in.

import {
  asKnownSize, block, BytesBlob, Decoder, encoded, FixedSizeArray, InCore, PvmBackend, tryAsU32,
  WithHash,
} from "./library.mjs";

export const PACKAGE_COUNT_MAX = 8192;

/** Why a package is not taken; a guarantor would not even look at it. */
export class NotTaken extends Error {}

export const text = (bytes) => Buffer.from(bytes.raw).toString("base64");

export class Work {
  constructor(spec, states, blake2b) {
    this.spec = spec;
    this.blake2b = blake2b;
    this.inCore = InCore.new(spec, states, PvmBackend.BuiltIn, blake2b);
    /** In the order in which they came. */
    this.waiting = [];
  }

  /** Take a package for a core; twice the same is once. */
  take(core, bytes, extrinsics) {
    const made = this.read(core, bytes, extrinsics);
    if (this.waiting.some((other) => other.id === made.id && other.core === core)) return;
    if (this.waiting.length >= PACKAGE_COUNT_MAX) throw new NotTaken("the guarantors are full");
    this.waiting.push(made);
  }

  drop(one) {
    this.waiting = this.waiting.filter((other) => other !== one);
  }

  read(core, bytes, extrinsics) {
    if (core >= this.spec.coresCount) throw new NotTaken(`no guarantor is with core ${core}`);
    const blob = BytesBlob.blobFrom(bytes);
    const made = this.decoded(blob);
    if (!block.isWorkItemsCount(made.items.length)) {
      throw new NotTaken(`the package has ${made.items.length} work items`);
    }
    if (made.items.some((item) => item.importSegments.length > 0 || item.exportCount > 0)) {
      throw new NotTaken("segments are neither imported nor exported on this network");
    }
    const sorted = this.sorted(made, extrinsics);
    const hash = this.blake2b.hashBytes(blob).asOpaque();
    const bundleBytes = bytes.length + extrinsics.reduce((sum, one) => sum + one.length, 0);
    return { core, hash, id: text(hash), made, bundleBytes, extrinsics: sorted, report: null };
  }

  decoded(blob) {
    let made;
    try {
      made = Decoder.decodeObject(block.WorkPackage.Codec, blob, this.spec);
    } catch (problem) {
      throw new NotTaken(problem.message);
    }
    const again = encoded(block.WorkPackage.Codec, made, this.spec);
    if (!again.isEqualTo(blob)) throw new NotTaken("the package is not in its one encoding");
    return made;
  }

  /** The extrinsics of each item, checked against what the item says about them. */
  sorted(made, extrinsics) {
    const left = [...extrinsics];
    const sorted = made.items.map((item) =>
      item.extrinsic.map(({ hash, len }) => {
        const bytes = left.shift();
        if (bytes === undefined) throw new NotTaken("an extrinsic is missing");
        const blob = BytesBlob.blobFrom(bytes);
        if (bytes.length !== len || !this.blake2b.hashBytes(blob).isEqualTo(hash)) {
          throw new NotTaken("an extrinsic is not the one that its work item names");
        }
        return blob;
      }),
    );
    if (left.length > 0) throw new NotTaken(`${left.length} extrinsics belong to no work item`);
    return sorted;
  }

  /** The package's report and its hash; in words why there is none. Made once for each package. */
  async report(one) {
    if (one.report === null) {
      const { hash, made, core, extrinsics } = one;
      const imports = asKnownSize(made.items.map(() => []));
      const at = block.tryAsCoreIndex(core);
      const said = await this.inCore.refine(
        WithHash.new(hash, made), at, imports, asKnownSize(extrinsics),
      );
      one.report = said.isError ? { refused: said.details() } : this.mended(one, said.ok.report);
    }
    return one.report;
  }

  /**
   * The library's report with what it leaves open filled in: the length of the bundle, the gas for
   * accumulation (it copies the one for refinement), and no lookup of segment roots, where it names
   * the package itself, which would make the report wait for itself.
   */
  mended(one, draft) {
    const results = draft.results.map((result, index) =>
      block.WorkResult.create({ ...result, gas: one.made.items[index].accumulateGasLimit }),
    );
    const report = block.WorkReport.create({
      ...draft,
      workPackageSpec: block.WorkPackageSpec.create({
        ...draft.workPackageSpec,
        length: tryAsU32(one.bundleBytes),
      }),
      segmentRootLookup: [],
      results: FixedSizeArray.new(results, block.tryAsWorkItemsCount(results.length)),
    });
    const bytes = encoded(block.WorkReport.Codec, report, this.spec);
    return { made: report, bytes, hash: this.blake2b.hashBytes(bytes).asOpaque() };
  }
}
