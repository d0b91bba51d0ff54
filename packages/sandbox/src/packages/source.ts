import type { Requirement } from "./requirement.js";
import type { Omission, UnpackedPackage } from "./unpacked.js";
import type { Version } from "./version.js";

/** One version of a package that could be taken. */
export interface Candidate {
  /** In normal form. */
  readonly name: string;
  readonly version: Version;
}

/** What the choice of versions needs to know about the place packages come from. */
export interface Offers<C extends Candidate> {
  /** All versions that can be used, newest first; an error when there is none, whatever version is wanted. */
  candidates(name: string): Promise<readonly C[]>;
  /** What a version asks for, markers included. */
  requirements(candidate: C): Promise<readonly Requirement[]>;
}

/** A package as a source delivers it, and where it was found. */
export interface Delivery {
  readonly unpacked: UnpackedPackage;
  /** The address of the file without any password, or the name of the `.deb`. */
  readonly origin: string;
  /** Of the file as it was downloaded. */
  readonly sha256: string;
  /** Requirements that are left out, with the reason. */
  readonly omittedRequirements: readonly Omission[];
}

/** A place packages come from. */
export interface PackageSource<C extends Candidate = Candidate> extends Offers<C>, AsyncDisposable {
  readonly kind: "pypi" | "debian";
  /** What the user should know about choices the source has made. */
  notes(): readonly string[];
  /** Tells the source what will be asked for, so that it can fetch at once what belongs together. */
  prepare(requirements: readonly Requirement[]): Promise<void>;
  deliver(candidate: C): Promise<Delivery>;
}
