import { randomBytes } from "node:crypto";
import { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import type { Terminal } from "../terminal/terminal.js";
import { openDemoStore } from "./demo-store.js";
import { playRun } from "./run-scene.js";
import { type Decision, JsonShow, TextShow } from "./run-show.js";

export interface RunFlags {
  readonly fast: boolean;
  readonly json: boolean;
  /** What was decided on the command line; null leaves it to a person. */
  readonly decision: "approve" | "deny" | null;
  /** Where the run is kept; in a temporary folder unless it says. */
  readonly store: string | undefined;
}

/** How long the scripted model takes for an answer, for somebody who watches. */
const LATENCY_MS = 350;

/** Plays the run of a Python program. Gives back the exit code. */
export async function playRunDemo(flags: RunFlags, terminal: Terminal): Promise<number> {
  const decided = decisionOf(flags, terminal);
  await using store = await openDemoStore(flags.store);
  await using sandbox = new LazySandbox();
  const show = flags.json ? new JsonShow(terminal.write, decided ?? AUTOMATIC) : new TextShow(terminal, decided);
  const { status, chain } = await playRun({
    store,
    show,
    signal: terminal.signal,
    sandbox: sandbox.open,
    run_id: `triage-${randomBytes(3).toString("hex")}`,
    by: { name: decided === null ? "operator" : `--${flags.decision === "deny" ? "deny" : "yes"}`, role: "operator" },
    latency_ms: flags.fast ? 0 : LATENCY_MS,
  });
  return status !== "failed" && chain.verified && chain.tampering_detected ? 0 : 1;
}

const AUTOMATIC: Decision = { kind: "approve", reason: "--json asks nobody, so decided as --yes would" };

/** Somebody is asked who both sees the question and can answer it. */
function decisionOf({ decision, json }: RunFlags, { isTerminal, keys }: Terminal): Decision | null {
  if (decision !== null) return { kind: decision, reason: "decided on the command line" };
  if (json) return AUTOMATIC;
  if (isTerminal && keys !== null) return null;
  return { kind: "approve", reason: "no terminal to ask, so decided as --yes would" };
}
