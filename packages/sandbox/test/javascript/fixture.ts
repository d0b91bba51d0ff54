import {
  type ExecuteOptions,
  type GuestOptions,
  type JavaScriptExecution,
  JavaScriptGuest,
} from "../../src/javascript/guest.js";
import { createImage, type JavaScriptImage } from "../../src/javascript/image.js";
import { compileQuickjs, meterQuickjs, SMALL_STACK } from "../../src/javascript/metered-quickjs.js";
import { quickjsOf } from "../../src/javascript/quickjs-manifest.js";
import { Output } from "../../src/wasi/output.js";
import { Vfs } from "../../src/wasi/vfs.js";
import type { Answer } from "../../src/wasm/outcome.js";

let made: JavaScriptImage | undefined;

/** One image for all tests of a file. */
export function image(): JavaScriptImage {
  made ??= createImage(compileQuickjs(meterQuickjs(quickjsOf(), SMALL_STACK), SMALL_STACK));
  return made;
}

export interface Ran extends JavaScriptExecution {
  readonly out: string;
  readonly err: string;
  readonly truncated: boolean;
}

type Options = Partial<ExecuteOptions> & { readonly outputBytes?: number };

/** A guest on a fixed clock with the files of a test. */
export class Bench {
  readonly files: Vfs;
  readonly guest: JavaScriptGuest;

  constructor(files: Readonly<Record<string, string>> = {}, options: Partial<GuestOptions> = {}, saved?: Uint8Array) {
    this.files = options.files ?? new Vfs();
    this.files.mkdir("/app", { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      this.files.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      this.files.writeFile(path, new TextEncoder().encode(text));
    }
    const all: GuestOptions = {
      clock: { kind: "fixed", startNs: 1_700_000_000_000_000_000n, stepNs: 1000n },
      random: { kind: "seeded", seed: "a test" },
      ...options,
      files: this.files,
    };
    this.guest =
      saved === undefined ? JavaScriptGuest.create(image(), all) : JavaScriptGuest.restore(image(), saved, all);
  }

  run(code: string, options: Options = {}): Promise<Ran> {
    return this.watched(options, (all) => this.guest.execute(code, all));
  }

  resume(answers: readonly Answer[], options: Options = {}): Promise<Ran> {
    return this.watched(options, (all) => this.guest.resume(answers, all));
  }

  /** What the program printed; fails when it did not end well. */
  async print(code: string, options: Options = {}): Promise<string> {
    const { out, err, outcome } = await this.run(code, options);
    if (outcome.kind !== "ended" || outcome.exit_code !== 0) throw new Error(`${JSON.stringify(outcome)}\n${err}`);
    return out;
  }

  read(path: string): string {
    return new TextDecoder().decode(this.files.readFile(path));
  }

  private async watched(options: Options, go: (all: ExecuteOptions) => Promise<JavaScriptExecution>): Promise<Ran> {
    const limit = options.outputBytes ?? 1_000_000;
    const [stdout, stderr] = [new Output(limit), new Output(limit)];
    const execution = await go({ fuel: 2_000_000_000, onSlice: () => undefined, ...options, stdout, stderr });
    return { ...execution, out: stdout.text(), err: stderr.text(), truncated: stdout.truncated || stderr.truncated };
  }
}
