import { shown, UsageError } from "../app/errors.js";
import { readFlags } from "../arguments/parse-arguments.js";
import type { Terminal } from "../terminal/terminal.js";

const HELP = `Usage: bursar demo [flags]

Runs a Python program in the sandbox that hits its limit, asks you, and goes on
at the same line. Its model is scripted; all else is real. No key, no network,
no bill.

Flags:
  --run         that story, which is told unless another one is named
  --budgets     another story: simulated calls in a tree of real budgets
  --sandbox     another story: a program that never ends, in the sandbox
  --fast        no pauses
  --yes         approve the extension without asking
  --deny        deny it without asking
  --json        one JSON object a line: what happens, and a summary last
  --store <url> keep the run there, to look at it afterwards (--run)
  --seed <n>    other figures, the same story (--budgets; default 1)
  --help        this text

Several stories are told one after the other. Without a terminal, and with
--json, nobody is asked: the extension is approved as with --yes, and the output
says so. NO_COLOR and FORCE_COLOR are heard.

Exit codes:
  0    every run was completed, or denied, and its chain is verified; with
       --sandbox, the program was stopped and the session lives on
  1    a run failed, or its chain is not verified
  2    the command line was not understood
  130  interrupted

Examples:
  bursar demo
  bursar demo --deny
  bursar demo --store sqlite:demo.db
  bursar demo --budgets --sandbox
  bursar demo --fast --json | tail -n 1
`;

const FLAGS = {
  run: { type: "boolean" },
  budgets: { type: "boolean" },
  sandbox: { type: "boolean" },
  fast: { type: "boolean" },
  yes: { type: "boolean" },
  deny: { type: "boolean" },
  json: { type: "boolean" },
  store: { type: "string" },
  seed: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

const LARGEST_SEED = 2 ** 32 - 1;

type Scene = () => Promise<number>;

export async function demo(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = readFlags(args, FLAGS);
  if (values.help) return terminal.finish(0, HELP);
  if (values.yes && values.deny) throw new UsageError("--yes and --deny exclude each other");
  const { fast = false, json = false, budgets = false, sandbox = false, store } = values;
  const run = values.run ?? !(budgets || sandbox);
  if (store !== undefined && !run) throw new UsageError("--store says nothing without --run");
  const seed = readSeed(values.seed);
  if (values.seed !== undefined && !budgets) throw new UsageError("--seed says nothing without --budgets");
  const decision = values.yes ? "approve" : values.deny ? "deny" : null;
  const scenes: Scene[] = [];
  // Loaded when they are told: a typing mistake should be said at once.
  if (run) {
    const { playRunDemo } = await import("../demo/run-demo.js");
    scenes.push(() => playRunDemo({ fast, json, decision, store }, terminal));
  }
  if (budgets) {
    const { playBudgets } = await import("../demo/budgets-scene.js");
    scenes.push(() => playBudgets({ fast, json, seed, decision }, terminal));
  }
  if (sandbox) {
    const { playSandbox } = await import("../demo/sandbox-scene.js");
    scenes.push(() => playSandbox(terminal, json));
  }
  const code = await playAll(scenes, terminal.signal);
  if (code !== 0 || json || !run) return code;
  const { tryNext } = await import("../demo/try-next.js");
  return terminal.finish(0, tryNext(terminal));
}

async function playAll(scenes: readonly Scene[], signal: AbortSignal): Promise<number> {
  try {
    for (const scene of scenes) {
      const code = await scene();
      if (code !== 0) return code;
    }
    return 0;
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  }
}

function readSeed(text = "1"): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed <= LARGEST_SEED) return seed;
  throw new UsageError(`--seed is "${shown(text)}"; allowed: a whole number from 0 to ${LARGEST_SEED}`);
}
