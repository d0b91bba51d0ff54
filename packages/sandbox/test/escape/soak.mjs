// Runs many sessions, several at once, one in ten of them hostile, and checks everything the others say.
//
//   node packages/sandbox/test/escape/soak.mjs [--sessions 2000] [--at-once 8]
//
// It ends with 1 when an output was wrong, or when the memory of the sandbox's process has grown from the first third of
// the sessions to the last.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openSandbox } from "@bursar/sandbox";

const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));
const HOSTILE_EVERY = 10;
const SAMPLES = 120;
const MOST_SHOWN = 20;
/** What the allocator keeps for itself differs from moment to moment; a leak in every session is far above that. */
const GROWTH_RATIO = 1.2;
const GROWTH_MIB = 48;

/** Programs that end badly, and how they may end. */
const HOSTILE = [
  ["python", "while True: pass", ["out_of_fuel"]],
  ["python", "while True:\n    try:\n        while True: pass\n    except BaseException: pass", ["out_of_fuel"]],
  ["python", "held = []\nwhile True: held.append(bytearray(1_000_000))", ["ended", "memory_limit", "out_of_fuel"]],
  ["python", "class D:\n    def __repr__(self): return repr(self)\nrepr(D())", ["ended", "stack_overflow"]],
  ["python", "import os\nos.abort()", ["unreachable", "trap"]],
  ["python", "import os\nfor fd in range(64):\n    try: os.close(fd)\n    except OSError: pass", ["trap"]],
  ["python", "import time\ntime.sleep(10**6)", ["timeout"]],
  ["python", "while True: print('x' * 10_000)", ["out_of_fuel"]],
  [
    "python",
    "for n in range(10**9):\n    with open(f'/app/{n}', 'w') as file: file.write('x' * 10_000)",
    ["ended", "out_of_fuel"],
  ],
  ["python", "import sys\nsys.modules['_serve']()", ["ended", "trap", "out_of_fuel", "stack_overflow"]],
  ["python", "for _ in range(30): await host.call('x' * 100)\nraise SystemExit(5)", ["ended"]],
  ["javascript", "for (;;) {}", ["out_of_fuel"]],
  [
    "javascript",
    "const held = []; for (;;) held.push(new Uint8Array(1_000_000).fill(1));",
    ["ended", "memory_limit", "out_of_fuel"],
  ],
  ["javascript", "const again = () => again() + 1; again();", ["ended", "stack_overflow"]],
  ["javascript", "import * as os from 'os'; os.sleep(1e9);", ["timeout"]],
  ["javascript", "for (;;) console.log('x'.repeat(10_000));", ["out_of_fuel"]],
];
const HOSTILE_OPTIONS = { fuelBudget: 150_000_000, memoryLimit: 64 * 1024 * 1024 };
const SHORT = 250;
const LONG = 600_000;

/** Executions of one session by its number, each with what it has to print. */
const BENIGN = [
  (n) => ({
    language: "python",
    autoPersistGlobals: true,
    steps: [
      [
        `mine = ${n}\nprint('mine' in globals(), len([name for name in globals() if name.startswith('other')]))`,
        "True 0\n",
      ],
      [`other${n} = [mine] * 3\nprint(sum(other${n}))`, `${3 * n}\n`],
      ["print(mine)", `${n}\n`],
    ],
  }),
  (n) => ({
    language: "python",
    steps: [
      [
        `import json\nwith open('note.json', 'w') as file: json.dump({'n': ${n}}, file)\nprint('kept' in globals())\nkept = 1`,
        "False\n",
      ],
      ["import json\nprint(json.load(open('note.json'))['n'], 'kept' in globals())", `${n} False\n`],
    ],
  }),
  (n) => ({
    language: "python",
    steps: [
      [`print(sum(i * i for i in range(${n % 500})))`, `${squares(n % 500)}\n`],
      [`print(await host.call('double', ${n}))`, `${2 * n}\n`],
      [`import os\nprint(os.listdir('/app'))\nraise SystemExit(${(n % 100) + 1})`, "[]\n"],
    ],
  }),
  (n) => ({
    language: "javascript",
    autoPersistGlobals: true,
    steps: [
      [
        `globalThis.mine = ${n}; console.log(Object.keys(globalThis).filter((name) => /^(mine|kept)/.test(name)).join());`,
        "mine\n",
      ],
      ["console.log(mine + (await host.call('double', mine)));", `${3 * n}\n`],
    ],
  }),
  (n) => ({
    language: "javascript",
    steps: [
      [
        `import * as std from "std"; const file = std.open("note.txt", "w"); file.puts("${n}"); file.close(); globalThis.kept = 1;`,
        "",
      ],
      [`import * as std from "std"; console.log(std.loadFile("note.txt"), typeof kept);`, `${n} undefined\n`],
      [`let sum = 0; for (let i = 0; i < ${n % 500}; i++) sum += i * i; console.log(sum);`, `${squares(n % 500)}\n`],
    ],
  }),
];

function squares(n) {
  return ((n - 1) * n * (2 * n - 1)) / 6;
}

const handlers = { double: (value) => 2 * value };

async function runBenign(sandbox, n) {
  const { steps, ...options } = BENIGN[n % BENIGN.length](n);
  const session = await sandbox.createSession({ ...options, timeout: LONG });
  try {
    for (const [code, expected] of steps) {
      const { stdout, stderr, metadata } = await session.execute(code, { handlers });
      if (stdout === expected && stderr === "") continue;
      return `session ${n}: ${JSON.stringify({ code, expected, stdout, stderr, trap: metadata.trap_message })}`;
    }
    return null;
  } finally {
    await session.destroy();
  }
}

async function runHostile(sandbox, n) {
  const [language, code, ends] = HOSTILE[Math.floor(n / HOSTILE_EVERY) % HOSTILE.length];
  const session = await sandbox.createSession({ language, ...HOSTILE_OPTIONS });
  try {
    const { success, metadata } = await session.execute(code, { timeout: ends[0] === "timeout" ? SHORT : LONG });
    const end = metadata.trap_reason ?? "ended";
    if (success || !ends.includes(end))
      return `session ${n}: ${JSON.stringify({ code, end, trap: metadata.trap_message })}`;
    const next = await session.execute(language === "python" ? "print(1)" : "console.log(1)", { timeout: LONG });
    return next.stdout === "1\n"
      ? null
      : `session ${n}: after ${JSON.stringify({ code, stderr: next.stderr, stdout: next.stdout })}`;
  } finally {
    await session.destroy();
  }
}

/** The processes that this one has started; the system tells it on Linux alone. */
function children() {
  try {
    const threads = readdirSync(`/proc/${process.pid}/task`);
    return threads
      .flatMap((thread) => readFileSync(`/proc/${process.pid}/task/${thread}/children`, "utf8").split(" "))
      .filter(Boolean);
  } catch {
    return [];
  }
}

function residentMib(pid) {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return found === null ? Number.NaN : Number(found[1]) / 1024;
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Keeps so many sessions going until all have been; tells after each. */
async function runAll(sandbox, count, atOnce, told) {
  let next = 0;
  const line = async () => {
    while (next < count) {
      const n = next++;
      const run = n % HOSTILE_EVERY === HOSTILE_EVERY - 1 ? runHostile : runBenign;
      told(await run(sandbox, n).catch((error) => `session ${n}: ${error.message}`));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, line));
}

function judgeMemory(samples) {
  const third = Math.floor(samples.length / 3);
  if (third === 0) {
    console.log("resident memory: not known here; run it on Linux, with more sessions");
    return true;
  }
  const [first, middle, last] = [samples.slice(0, third), samples.slice(third, -third), samples.slice(-third)].map(
    median,
  );
  const isFlat = last <= Math.max(first * GROWTH_RATIO, first + GROWTH_MIB);
  console.log(`resident memory of the sandbox's process over time, MiB: ${samples.map(Math.round).join(" ")}`);
  console.log(
    `medians of the thirds: first ${first.toFixed(1)} MiB, middle ${middle.toFixed(1)}, last ${last.toFixed(1)}: ${isFlat ? "flat" : "it grows"}`,
  );
  return isFlat;
}

function wholeNumber(text, name) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} is ${text}; give a whole number above 0`);
}

async function main() {
  const { values } = parseArgs({
    options: { sessions: { type: "string", default: "2000" }, "at-once": { type: "string", default: "8" } },
  });
  const [count, atOnce] = [wholeNumber(values.sessions, "sessions"), wholeNumber(values["at-once"], "at-once")];
  mkdirSync(CACHE, { recursive: true });
  const keys = mkdtempSync(join(tmpdir(), "bursar-soak-"));
  const before = new Set(children());
  const sandbox = await openSandbox({ isolation: "process", cacheFolder: CACHE, keyFile: join(keys, "sandbox.key") });
  await Promise.all([sandbox.warm("python"), sandbox.warm("javascript")]);
  const broker = children().find((pid) => !before.has(pid));
  const samples = [];
  let [done, wrong] = [0, 0];
  const every = Math.max(1, Math.floor(count / SAMPLES));
  await runAll(sandbox, count, atOnce, (problem) => {
    done += 1;
    if (problem !== null && ++wrong <= MOST_SHOWN) console.log(`WRONG ${problem.slice(0, 1000)}`);
    if (broker !== undefined && done % every === 0) samples.push(residentMib(broker));
    if (done % Math.max(1, Math.floor(count / 10)) === 0)
      console.log(`${done} of ${count} sessions, ${wrong} wrong, ${samples.at(-1)?.toFixed(0)} MiB`);
  });
  const left = (await sandbox.sessions()).length;
  await sandbox[Symbol.asyncDispose]();
  rmSync(keys, { recursive: true, force: true });
  const isFlat = judgeMemory(samples);
  console.log(
    `${count} sessions, ${Math.floor(count / HOSTILE_EVERY)} of them hostile: ${wrong} wrong outputs, ${left} left behind`,
  );
  if (wrong > 0 || left > 0 || !isFlat) process.exitCode = 1;
}

await main();
