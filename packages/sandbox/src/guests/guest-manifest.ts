import type { GuestFuel } from "./guest-fuel.js";

/** One build of an interpreter, with everything that has to be known to use it. Another build is another manifest. */
export interface GuestManifest {
  readonly name: string;
  readonly language: "python" | "javascript";
  /** Of the interpreter itself: CPython's, such as 3.12.0, or that of the package that QuickJS comes in. */
  readonly version: string;
  /** The file of the module. */
  readonly wasm: string;
  /** Of the module's bytes: images and saved sessions belong to it. */
  readonly sha256: string;
  readonly features: GuestFeatures;
  /** The guest's own side, which runs in it when its image is made: a file, or a folder of modules. */
  readonly boot: string;
  /** What it burns, measured; null when nobody has, or with other costs than those of now. */
  readonly fuel: GuestFuel | null;
}

/** What programs find in a guest, tried out. */
export interface GuestFeatures {
  /** Modules that can be imported. */
  readonly modules: readonly string[];
  /** What they find elsewhere, and not here: modules of Python, globals of JavaScript. */
  readonly absent: readonly string[];
}
