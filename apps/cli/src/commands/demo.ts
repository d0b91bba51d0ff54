import { MemoryStore, systemClock, systemTimer } from "bursar";
import { readFlags, shown, UsageError } from "../args.js";
import type { Answer } from "../demo/approval.js";
import { fastPace, watchingPace } from "../demo/pace.js";
import { positionsOf } from "../demo/position.js";
import { playSandbox } from "../demo/sandbox-scene.js";
import { playScenario } from "../demo/scenario.js";
import { RUN } from "../demo/script.js";
import { Keyboard } from "../keyboard.js";
import { LiveView } from "../render/live.js";
import { styleFor, wantsColour } from "../render/style.js";
import { JsonView, PlainView, type ReadPositions, type View } from "../render/view.js";
import type { Terminal } from "../terminal.js";

const HELP = `Usage: bursar demo [flags]

Plays an agent's run in ten seconds: simulated calls, a real budget, the real
gate. No key, no network, no bill.

Flags:
  --fast        no pauses
  --yes         approve the extension without asking
  --deny        deny it without asking
  --json        one JSON object a line: what happens, and a summary last
  --seed <n>    other figures, the same story (default 1)
  --sandbox     another story: a program that never ends, in the sandbox
  --help        this text

Without a terminal, and with --json, nobody is asked: the extension is approved
as with --yes, and the output says so. NO_COLOR and FORCE_COLOR are heard.

Exit codes:
  0    the run was completed, or denied, and its chain is verified; with
       --sandbox, the program was stopped and the session lives on
  1    the run failed, or its chain is not verified
  2    the command line was not understood
  130  interrupted

Examples:
  bursar demo
  bursar demo --deny
  bursar demo --sandbox
  bursar demo --fast --json | tail -n 1
`;

const FLAGS = {
  fast: { type: "boolean" },
  yes: { type: "boolean" },
  deny: { type: "boolean" },
  json: { type: "boolean" },
  seed: { type: "string" },
  sandbox: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

interface DemoFlags {
  readonly fast: boolean;
  readonly json: boolean;
  readonly seed: number;
  /** What was decided on the command line; null leaves it to a person. */
  readonly decision: Answer["kind"] | null;
}

const LARGEST_SEED = 2 ** 32 - 1;

export async function demo(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = readFlags(args, FLAGS);
  if (values.help) return terminal.finish(0, HELP);
  if (values.yes && values.deny) throw new UsageError("--yes and --deny exclude each other");
  const { fast = false, json = false } = values;
  if (values.sandbox) return playSandbox(terminal, json);
  const decision = values.yes ? "approve" : values.deny ? "deny" : null;
  return play({ fast, json, seed: readSeed(values.seed), decision }, terminal);
}

function readSeed(text = "1"): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed <= LARGEST_SEED) return seed;
  throw new UsageError(`--seed is "${shown(text)}"; allowed: a whole number from 0 to ${LARGEST_SEED}`);
}

async function play(flags: DemoFlags, terminal: Terminal): Promise<number> {
  const { signal } = terminal;
  await using store = new MemoryStore();
  const positions = async () => positionsOf(await store.path(RUN), store.dimensions, systemClock.now());
  using view = openView(flags, terminal, positions);
  using keyboard = openKeyboard(flags, terminal);
  try {
    const { status, chain } = await playScenario({
      store,
      clock: systemClock,
      timer: systemTimer,
      pace: flags.fast ? fastPace() : watchingPace(signal),
      seed: flags.seed,
      signal,
      tell: (moment) => view.show(moment),
      approve: () => decide(flags, view, keyboard, signal),
    });
    return status !== "Failed" && chain.verified && chain.tampering_detected ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  }
}

function openView({ json }: DemoFlags, terminal: Terminal, positions: ReadPositions): View {
  const { write, isTerminal, env } = terminal;
  if (json) return new JsonView(write);
  const style = styleFor(wantsColour(env, isTerminal));
  const live = isTerminal && env.TERM !== "dumb";
  return live ? new LiveView(terminal, style, positions) : new PlainView(write, style, positions);
}

/** Keys are read only where somebody both sees the question and can answer it. */
function openKeyboard({ json }: DemoFlags, { isTerminal, keys, interrupt }: Terminal): Keyboard | null {
  return json || !isTerminal || keys === null ? null : new Keyboard(keys, interrupt);
}

async function decide(
  { decision, json }: DemoFlags,
  view: View,
  keyboard: Keyboard | null,
  signal: AbortSignal,
): Promise<Answer> {
  if (decision !== null) {
    const by = decision === "approve" ? "--yes" : "--deny";
    return { kind: decision, by, reason: "decided on the command line" };
  }
  if (keyboard === null) {
    const why = json ? "--json asks nobody" : "no terminal to ask";
    return { kind: "approve", by: "--yes", reason: `${why}, so decided as --yes would` };
  }
  await view.ask("[a]pprove / [d]eny ?");
  const key = await keyboard.press(["a", "d"], signal);
  await view.ask(null);
  if (key === null) return { kind: "deny", by: "nobody", reason: "the terminal was closed" };
  return { kind: key === "a" ? "approve" : "deny", by: "operator", reason: `key ${key} at the prompt` };
}
