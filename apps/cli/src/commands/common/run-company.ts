import {
  type ApprovalRequest,
  type Bursar,
  type BursarOptions,
  execHandler,
  openBursar,
  type Principal,
  type RunRecord,
} from "bursar";
import { type Configuration, governingTerms } from "bursar/config";
import { keepSites, tieredModel } from "bursar/models";
import { positionsFor } from "bursar/views";
import { counted } from "../render/quantities.js";
import { runBars, worthwhile } from "../render/run-bars.js";
import { type Style, styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal.js";
import { askPerson, type Choice } from "./decide.js";
import type { Company } from "./drive.js";
import { type Equipment, reviver } from "./equipment.js";
import type { Given } from "./flags.js";
import { batchesOf, foresightOf } from "./foresight.js";
import { readLine } from "./line-reader.js";
import { checkWebhook, type Place } from "./place.js";
import type { Printing } from "./printing.js";
import { ProgramOutput } from "./program-output.js";
import { Watching } from "./watching.js";

/** So often --yes says yes: a run that never ends is not extended without an end. */
const MOST_YES = 20;

/** Opens what drives runs in this process. */
export async function bursarAt(
  place: Place,
  equipment: Equipment,
  terminal: Terminal,
  more: Pick<BursarOptions, "claim_ms" | "changed" | "foresight" | "printed"> & {
    /** The policy of the configuration that runs get here, in place of their own. */
    readonly policy?: string | undefined;
  } = {},
): Promise<Bursar> {
  const { store, config } = place;
  const { programs, tools, model, sandbox } = equipment;
  const { policy, ...rest } = more;
  checkWebhook(config, terminal);
  const { tiers } = config.foresight;
  const batches = await batchesOf(place, equipment, terminal);
  // What model calls have taught is written down now and then, and at last.
  place.beforeClosing(() => keepSites(store));
  return openBursar({
    store,
    programs,
    tools,
    revive: reviver(equipment),
    governance: governanceOf(config, policy),
    foresight: foresightOf({}, place, equipment),
    ...rest,
    handlers: { exec: execHandler(sandbox.open) },
    ...(model !== null && { model: tiers === null ? model : tieredModel(model, tiers) }),
    ...(batches !== null && { batches }),
  });
}

/** What the configuration gives to the runs of a program: whoever is no operator may only tighten it. */
function governanceOf(config: Configuration, policy: string | undefined): NonNullable<BursarOptions["governance"]> {
  return (agent) => governingTerms(config, { agent, policy });
}

/** What is shown of a run while it is driven here goes to standard error: standard output is the program's. */
export function errorStyle({ env }: Terminal): Style {
  return styleFor(wantsColour(env, process.stderr.isTTY === true));
}

interface Surrounding {
  readonly flags: Given;
  readonly terminal: Terminal;
  /** Which links have been told before. */
  readonly from: number;
  /** Where what its program writes comes from while it is driven. */
  readonly printing: Printing;
}

/** Surrounds a run with what the flags and the terminal allow: a view, and somebody who decides. */
export function companyFor(
  run: RunRecord,
  bursar: Bursar,
  by: Principal,
  { flags, terminal, from, printing }: Surrounding,
): Company {
  const style = errorStyle(terminal);
  const write = (text: string) => void process.stderr.write(text);
  const isQuiet = flags.quiet === true || flags.json === true;
  const screen = terminal.aside;
  const { store } = bursar;
  const watching = isQuiet ? null : new Watching({ store, run, style, write, screen, from });
  const output = new ProgramOutput(run, terminal, from === 0);
  printing.hear((id, written) => {
    if (id !== run.id || flags.json === true) return;
    if (watching?.isDrawing !== true) output.show(written);
    else watching.aside(() => output.showLines(written));
  });
  const note = (text: string) => (flags.json === true ? undefined : write(`bursar: ${text}\n`));
  return {
    bursar,
    by,
    signal: terminal.signal,
    waits: flags.watch === true,
    start: () => watching?.start(),
    rest: async () => watching?.rest(),
    stood: (stopped) => (flags.json === true ? undefined : output.show(stopped.output)),
    note,
    waiting: (calls) => {
      if (flags.quiet === true) return;
      if (flags.json === true) write(`${JSON.stringify({ event: "waiting_for_batch", run_id: run.id, calls })}\n`);
      else note(`waits for ${counted(calls, "call")} in a batch; Ctrl-C leaves that to a worker`);
    },
    decide: decider(flags, terminal, style, write),
  };
}

function decider(flags: Given, terminal: Terminal, style: Style, write: (text: string) => void): Company["decide"] {
  if (flags.yes === true) return saysYes();
  const { keys, interrupt, signal, aside } = terminal;
  if (keys === null || aside === null || flags.json === true || flags.quiet === true) return null;
  const ask = (question: string) => readLine(question, { keys, write, interrupt, signal });
  return (request) => askPerson(request, ask, write, style);
}

/** Says yes to each request once, and not without an end. */
function saysYes(): (request: ApprovalRequest) => Promise<Choice> {
  const answered = new Set<string>();
  return async ({ id }) => {
    if (answered.has(id) || answered.size >= MOST_YES) return { kind: "leave" };
    answered.add(id);
    return { kind: "approve", reason: "--yes" };
  };
}

/** The limits of a run as they stand, for the end of what was shown. */
export async function lastBars({ store }: Bursar, run: RunRecord, columns: number, style: Style): Promise<string> {
  const lines = runBars(worthwhile(await positionsFor(store, run)), columns, style);
  return lines.map((line) => `${line}\n`).join("");
}
