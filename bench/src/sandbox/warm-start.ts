import { readFile } from "node:fs/promises";
import { engine, type WasmMemory, type WasmModule } from "@bursar/wasm-fuel";
import { PythonGuest } from "../../../packages/sandbox/dist/python/python-guest.js";
import { npmPythonFile } from "../../../packages/sandbox/dist/python/python-manifest.js";
import { Engine } from "../../../packages/sandbox/dist/sessions/engine.js";
import { Controls, type Errand } from "../../../packages/sandbox/dist/sessions/errand.js";
import { type Language, type Setup, setupOf } from "../../../packages/sandbox/dist/sessions/options.js";
import { PartsMaker } from "../../../packages/sandbox/dist/sessions/parts.js";
import { ProcExit } from "../../../packages/sandbox/dist/wasi/proc-exit.js";
import { Vfs } from "../../../packages/sandbox/dist/wasi/vfs.js";
import { WasiHost } from "../../../packages/sandbox/dist/wasi/wasi-host.js";
import type { Measured } from "../measure.js";
import { interleave } from "./interleave.js";
import { CACHE, PACKAGES, PAGES, pythonParts } from "./python-parts.js";

const FUEL = 1_000_000_000;
const LONGEST_MS = 60_000;

/**
 * What the first execution of a session takes where it is carried out: everything is compiled and read already, and only what
 * every session needs anew is left.
 */
export async function measureWarm(quick: boolean): Promise<readonly Measured[]> {
  const parts = await pythonParts();
  const normal = new engine.Module(await readFile(parts.manifest.wasm));
  const sessions = await FirstExecutions.open(["python", "javascript"]);
  return interleave(
    [
      { name: "baseline: normal start of CPython, print(1)", run: () => startNormally(normal) },
      { name: "new Python session, print(1)", run: () => sessions.run("python", "print(1)") },
      { name: "new JavaScript session, console.log(1)", run: () => sessions.run("javascript", "console.log(1)") },
      { name: "a Python guest alone, nothing run", run: () => void new PythonGuest(parts, { memoryPages: PAGES }) },
    ],
    { rounds: quick ? 10 : 60, warmUp: quick ? 5 : 15 },
  );
}

export function expectOne(stdout: string, stderr: string): void {
  if (stdout !== "1\n") throw new Error(`the guest printed ${JSON.stringify(stdout)}. ${stderr}`);
}

/** The interpreter as it is published, on our host, from its start to its end. */
function startNormally(module: WasmModule): void {
  const vfs = new Vfs();
  for (const folder of ["/app", "/tmp"]) vfs.mkdir(folder);
  const host = new WasiHost({ args: ["python", "-c", "print(1)"], vfs, preopens: { "/": "/" } });
  const instance = new engine.Instance(module, { wasi_snapshot_preview1: host.imports });
  host.bind(instance.exports.memory as WasmMemory);
  try {
    (instance.exports._start as () => void)();
  } catch (error) {
    if (!(error instanceof ProcExit) || error.code !== 0) throw error;
  }
  expectOne(host.stdout.text(), host.stderr.text());
}

/** Does what a thread of the pool does, in this thread, so that its time can be told from that of others. */
class FirstExecutions {
  private readonly engine = new Engine(PACKAGES);
  private readonly setups = new Map<Language, { readonly setup: Setup; readonly key: string }>();
  private count = 0;

  static async open(languages: readonly Language[]): Promise<FirstExecutions> {
    const made = new FirstExecutions();
    const maker = new PartsMaker(CACHE, npmPythonFile(), null);
    for (const language of languages) {
      const setup = setupOf({ language });
      const key = maker.keyOf(setup);
      made.engine.learn(key, await maker.make(setup));
      made.setups.set(language, { setup, key });
    }
    return made;
  }

  async run(language: Language, code: string): Promise<void> {
    const { setup, key } = this.setups.get(language) ?? {};
    if (setup === undefined || key === undefined) throw new Error(`${language} was not opened`);
    const errand: Errand = {
      session: `session ${this.count++}`,
      setup,
      parked: { version: 0, guest: null },
      version: 0,
      fuel: FUEL,
      timeout_ms: LONGEST_MS,
      request: { op: "begin", code, argv: [], stdin: null, interactive: false },
      controls: new Controls().shared,
    };
    const { stdout, stderr } = await this.engine.run(errand, key, () => {});
    expectOne(Buffer.from(stdout.bytes).toString(), Buffer.from(stderr.bytes).toString());
  }
}
