import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import type { Measured } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import { interleave, wallNs } from "./interleave.js";
import type { MemoryUse } from "./memory-process.js";
import { CACHE, PACKAGES } from "./python-parts.js";
import { expectOne, measureWarm } from "./warm-start.js";

const CLI = fileURLToPath(new URL("../../../apps/cli/bin/bursar.js", import.meta.url));
const MEMORY = fileURLToPath(new URL("./memory-process.js", import.meta.url));
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
