import type { ApprovalRequest, Bursar, Principal, RunRecord } from "bursar";
import { positionsFor } from "bursar/views";
import type { Choice, Company } from "../../app/runs/drive-run.js";
import type { Printing } from "../../app/runs/program-printing.js";
import type { Given } from "../../arguments/run-flags.js";
import { counted } from "../../render/quantities.js";
import { runBars, worthwhile } from "../../render/run-bars.js";
import { type Style, styleFor, wantsColour } from "../../render/style.js";
import { askPerson } from "../../terminal/ask-approval.js";
import { readLine } from "../../terminal/line-reader.js";
import { ProgramOutput } from "../../terminal/program-output.js";
import { Watching } from "../../terminal/run-watch.js";
import type { Terminal } from "../../terminal/terminal.js";

/** So often --yes says yes: a run that never ends is not extended without an end. */
const MOST_YES = 20;

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
