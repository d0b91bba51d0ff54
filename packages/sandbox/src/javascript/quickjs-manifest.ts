import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { GuestManifest } from "../guests/guest-manifest.js";
import { QUICKJS_FUEL } from "../guests/quickjs-fuel.js";
import { guestCodeFolder } from "./guest-code.js";

/** One build of QuickJS. */
export interface QuickjsManifest extends GuestManifest {
  readonly language: "javascript";
}

const SHA256 = "d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9";

/** The build that comes from npm. */
export function npmQuickjs(wasm: string = quickjsFile()): QuickjsManifest {
  return {
    name: "quickjs-wasi",
    language: "javascript",
    version: "3.6.2",
    wasm,
    sha256: SHA256,
    features: {
      modules: ["std", "os"],
      absent: ["fetch", "require", "process", "Buffer", "Worker", "Intl", "WebAssembly", "XMLHttpRequest", "WebSocket"],
    },
    boot: guestCodeFolder(),
    fuel: QUICKJS_FUEL,
  };
}

/** Where npm has put the engine of the `quickjs-wasi` package. Only who may read all of `node_modules` can find out. */
export function quickjsFile(): string {
  return createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm");
}

/** The bytes of a build, if they are what its manifest says. */
export function quickjsOf({ wasm, sha256 }: QuickjsManifest = npmQuickjs()): Uint8Array {
  const bytes = readFileSync(wasm);
  if (createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
  throw new Error(`${wasm} is not the build that its manifest names; install it again`);
}
