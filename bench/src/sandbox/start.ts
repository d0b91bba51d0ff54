import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { JavaScriptGuest } from "../../../packages/sandbox/dist/javascript/guest.js";
import { createImage, type JavaScriptImage } from "../../../packages/sandbox/dist/javascript/image.js";
import {
  compileQuickjs,
  meterQuickjs,
  readQuickjs,
  SMALL_STACK,
} from "../../../packages/sandbox/dist/javascript/metered-quickjs.js";
import { PythonGuest, type PythonParts } from "../../../packages/sandbox/dist/python/python-guest.js";
import { Output } from "../../../packages/sandbox/dist/wasi/output.js";
import { ProcExit } from "../../../packages/sandbox/dist/wasi/proc-exit.js";
import { Vfs } from "../../../packages/sandbox/dist/wasi/vfs.js";
import { WasiHost } from "../../../packages/sandbox/dist/wasi/wasi-host.js";
import { engine, type WasmMemory, type WasmModule } from "../../../packages/sandbox/dist/wasm/engine.js";
import type { Measured } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import { interleave, wallNs } from "./interleave.js";
import type { MemoryUse } from "./memory-process.js";
import { CACHE, PAGES, pythonParts } from "./python-parts.js";

const CLI = fileURLToPath(new URL("../../../apps/cli/bin/bursar.js", import.meta.url));
const MEMORY = fileURLToPath(new URL("./memory-process.js", import.meta.url));
const PACKAGES = join(CACHE, "packages");
const FUEL = 1_000_000_000;
const SESSIONS = 200;
const MS = 1e6;
const MEGABYTE = 1024 * 1024;

const MAX_PYTHON_RATIO = 1 / 8;
const MAX_JAVASCRIPT_MS = 5;
const MAX_PROCESS_RATIO = 5;
const MAX_SESSION_MEGABYTES = 8;

export const start: Bench = {
  name: "sandbox-start",
  about: "new sessions against a normal start of the interpreter, a fresh process against an empty one, memory",
  async run(quick) {
    const warm = await measureWarm(quick);
    const fresh = await measureFresh(quick);
    const pooled = await measurePooled(quick);
    const memory = measureMemory(quick ? SESSIONS / 4 : SESSIONS);
    return {
      tables: [
        { title: "warm process, thread time, ratio to a normal start", rows: warm },
        { title: "fresh process, ratio to an empty one", rows: fresh },
        { title: "createSession, execute and destroy, ratio to this process", rows: pooled },
      ],
      bars: bars(warm, fresh, memory),
    };
  },
};

function bars(warm: readonly Measured[], fresh: readonly Measured[], memory: MemoryUse): readonly Bar[] {
  const python = warm[1]?.ratio ?? Number.NaN;
  const javascript = (warm[2]?.medianNs ?? Number.NaN) / MS;
  const process = fresh[1]?.ratio ?? Number.NaN;
  const megabytes = memory.bytes / MEGABYTE;
  return [
    {
      name: "a new Python session",
      measured: `1/${(1 / python).toFixed(1)} of a normal start, at most 1/${1 / MAX_PYTHON_RATIO}`,
      met: python <= MAX_PYTHON_RATIO,
    },
    {
      name: "a new JavaScript session",
      measured: `${javascript.toFixed(2)} ms, at most ${MAX_JAVASCRIPT_MS}`,
      met: javascript <= MAX_JAVASCRIPT_MS,
    },
    {
      name: "a fresh process to print(1)",
      measured: `${process.toFixed(2)} x node -e 0, at most ${MAX_PROCESS_RATIO}`,
      met: process <= MAX_PROCESS_RATIO,
    },
    {
      name: `memory of each of ${memory.sessions} Python sessions`,
      measured: `${megabytes.toFixed(2)} MB, at most ${MAX_SESSION_MEGABYTES}`,
      met: megabytes <= MAX_SESSION_MEGABYTES,
    },
  ];
}

/** Everything is compiled and read already; only what every session needs anew is measured. */
async function measureWarm(quick: boolean): Promise<readonly Measured[]> {
  const parts = await pythonParts();
  const normal = new engine.Module(await readFile(parts.manifest.wasm));
  const image = createImage(compileQuickjs(meterQuickjs(readQuickjs(), SMALL_STACK), SMALL_STACK));
  return interleave(
    [
      { name: "baseline: normal start of CPython, print(1)", run: () => startNormally(normal) },
      { name: "new Python session, print(1)", run: () => startPython(parts) },
      { name: "new JavaScript session, console.log(1)", run: () => startJavaScript(image) },
      { name: "a Python guest alone, nothing run", run: () => void new PythonGuest(parts, { memoryPages: PAGES }) },
    ],
    { rounds: quick ? 10 : 60, warmUp: quick ? 5 : 15 },
  );
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

/** What a session does for its first program. */
function startPython(parts: PythonParts): void {
  const guest = new PythonGuest(parts, { memoryPages: PAGES });
  guest.host.reseed("real");
  guest.prepare({ paths: [], env: {} });
  guest.begin({ code: "print(1)" }, { fuel: FUEL, onSlice: () => {} });
  expectOne(guest.host.stdout.text(), guest.host.stderr.text());
}

async function startJavaScript(image: JavaScriptImage): Promise<void> {
  const files = new Vfs();
  for (const folder of ["/app", "/tmp", "/data"]) files.mkdir(folder);
  const guest = JavaScriptGuest.create(image, { files, persist: false });
  const [stdout, stderr] = [new Output(1000), new Output(1000)];
  await guest.execute("console.log(1)", { fuel: FUEL, onSlice: () => {}, stdout, stderr });
  expectOne(stdout.text(), stderr.text());
}

function expectOne(stdout: string, stderr: string): void {
  if (stdout !== "1\n") throw new Error(`the guest printed ${JSON.stringify(stdout)}. ${stderr}`);
}

/** The command line as users have it, with its caches filled. */
async function measureFresh(quick: boolean): Promise<readonly Measured[]> {
  const env = { ...process.env, XDG_CACHE_HOME: CACHE, XDG_DATA_HOME: CACHE };
  const run = (args: readonly string[]) => execFileSync(process.execPath, args, { env, encoding: "utf8" });
  const exec = (...args: readonly string[]) => expectOne(run([CLI, "exec", "--quiet", ...args]), "");
  return interleave(
    [
      { name: "baseline: node -e 0", run: () => void run(["-e", "0"]) },
      { name: "bursar exec -c 'print(1)'", run: () => exec("-c", "print(1)") },
      {
        name: "bursar exec --language javascript -c 'console.log(1)'",
        run: () => exec("--language", "javascript", "-c", "console.log(1)"),
      },
      { name: "bursar --version", run: () => void run([CLI, "--version"]) },
    ],
    { rounds: quick ? 5 : 25, warmUp: 1, clock: wallNs },
  );
}

/** For information: a whole session as a caller has it, with guests in this process and in one of their own. */
async function measurePooled(quick: boolean): Promise<readonly Measured[]> {
  const options = { cacheFolder: CACHE, packagesFolder: PACKAGES, workers: 1 };
  await using here = await openSandbox({ ...options, isolation: "thread" });
  await using apart = await openSandbox({ ...options, isolation: "process" });
  return await interleave(
    [
      { name: "Python, threads of this process", run: () => useSession(here, "python", "print(1)") },
      { name: "Python, threads of a process of its own", run: () => useSession(apart, "python", "print(1)") },
      {
        name: "JavaScript, threads of a process of its own",
        run: () => useSession(apart, "javascript", "console.log(1)"),
      },
    ],
    { rounds: quick ? 10 : 60, warmUp: 5, clock: wallNs },
  );
}

async function useSession(sandbox: Sandbox, language: "python" | "javascript", code: string): Promise<void> {
  const session = await sandbox.createSession({ language });
  const { stdout, stderr } = await session.execute(code);
  await session.destroy();
  expectOne(stdout, stderr);
}

/** In a process of its own, so that what it grows by is what the sessions take. */
function measureMemory(sessions: number): MemoryUse {
  const text = execFileSync(process.execPath, ["--expose-gc", MEMORY, String(sessions)], { encoding: "utf8" });
  return JSON.parse(text) as MemoryUse;
}
