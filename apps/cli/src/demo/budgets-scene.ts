import { MemoryStore, systemClock, systemTimer } from "bursar";
import { positionsOf } from "bursar/views";
import { styleFor, wantsColour } from "../render/style.js";
import { Keyboard } from "../terminal/keyboard.js";
import type { Terminal } from "../terminal/terminal.js";
import type { Answer } from "./approval.js";
import { LiveView } from "./live-view.js";
import { fastPace, watchingPace } from "./pace.js";
import { playScenario } from "./scenario.js";
import { RUN } from "./script.js";
import { JsonView, PlainView, type ReadPositions, type View } from "./view.js";

export interface BudgetsFlags {
  readonly fast: boolean;
  readonly json: boolean;
  readonly seed: number;
  /** What was decided on the command line; null leaves it to a person. */
  readonly decision: Answer["kind"] | null;
}

/** Plays simulated calls against a tree of real budgets. Gives back the exit code. */
export async function playBudgets(flags: BudgetsFlags, terminal: Terminal): Promise<number> {
  const { signal } = terminal;
  await using store = new MemoryStore();
  const positions = async () => positionsOf(await store.path(RUN), store.dimensions, systemClock.now());
  using view = openView(flags, terminal, positions);
  using keyboard = openKeyboard(flags, terminal);
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
}

function openView({ json }: BudgetsFlags, terminal: Terminal, positions: ReadPositions): View {
  const { write, isTerminal, env } = terminal;
  if (json) return new JsonView(write);
  const style = styleFor(wantsColour(env, isTerminal));
  const live = isTerminal && env.TERM !== "dumb";
  return live ? new LiveView(terminal, style, positions) : new PlainView(write, style, positions);
}

/** Keys are read only where somebody both sees the question and can answer it. */
function openKeyboard({ json }: BudgetsFlags, { isTerminal, keys, interrupt }: Terminal): Keyboard | null {
  return json || !isTerminal || keys === null ? null : new Keyboard(keys, interrupt);
}

async function decide(
  { decision, json }: BudgetsFlags,
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
