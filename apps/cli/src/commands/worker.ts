import { type RunRecord, type Store, WORKER_SLOTS, Worker } from "bursar";
import { equip } from "../app/equipment/equipment.js";
import { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import { UsageError } from "../app/errors.js";
import { bursarAt } from "../app/runs/open-bursar.js";
import { ToldFaults } from "../app/told-faults.js";
import { equipmentOptions } from "../arguments/equipment-flags.js";
import { DRAIN_MS } from "../arguments/listening-flags.js";
import { readSpan } from "../arguments/read-span.js";
import { COMMON_HELP, countOf, EQUIPMENT, EQUIPMENT_HELP, textOf } from "../arguments/run-flags.js";
import { counted } from "../render/quantities.js";
import { noText, standingOf, statusText } from "../render/run.js";
import { harmless } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { tellConfig } from "./common/config-notice.js";
import { configOf, isKept, makePlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";
import { ServiceOutput } from "./common/service-output.js";
import { openSweeping } from "./common/sweeping.js";

const MOST = 1000;

const COMMAND: RunsCommand = {
  help: `Usage: bursar worker [flags]

Drives runs that wait, and those whose worker is gone, until it is stopped.
Any number of workers on any number of machines may do so on one store: each run
has one at a time. Stopped with Ctrl-C or SIGTERM it gives the calls that its
runs are making ${DRAIN_MS / 1000} seconds, and lets go of the runs, which others then take up
where they are.

Programs in the sandbox come from the store. What is trusted code has to be
given here, and so have tools and the model; a run that needs more than this
worker has is left to others, and told of once.

Flags:
  --most <n>         how many runs at the same time: ${WORKER_SLOTS} unless said otherwise
  --claim <time>     how long its runs stay with it when it says nothing: 30s
  --once             drive what there is, and end when nothing is left
  --quiet            tell nothing but faults
${EQUIPMENT_HELP}
${COMMON_HELP}

With --json each run that stands still or has ended is a line.

Exit codes: 0 stopped, or nothing is left, 1 failed, 2 not understood

Examples:
  bursar worker --module tools.mjs --store postgres://bursar@db/bursar
  bursar worker --once --json
`,
  flags: {
    most: { type: "string" },
    claim: { type: "string" },
    once: { type: "boolean" },
    quiet: { type: "boolean" },
    ...EQUIPMENT,
  },
  run: work,
};

export function worker(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function work({ flags, terminal, style }: Chore): Promise<Done> {
  const most = countOf(flags, "most", MOST) ?? WORKER_SLOTS;
  const claim_ms = readClaim(textOf(flags, "claim") ?? "30s");
  const config = configOf(flags, terminal);
  tellConfig(config, flags);
  if (!isKept(flags, config, terminal)) {
    throw new UsageError("a memory: store ends with this process, so no run can be in it; name another with --store");
  }
  await using equipment = await equip(
    equipmentOptions(flags, { env: terminal.env, config }),
    config,
    new LazySandbox(terminal.env),
  );
  await using place = await makePlace(flags, config, terminal);
  const told = new Telling(terminal, style, { json: flags.json === true, quiet: flags.quiet === true });
  const bursar = await bursarAt(place, equipment, terminal, { claim_ms, changed: (run) => told.changed(run) });
  await using _sweeping = await openSweeping(place, flags, config);
  await using worker = new Worker({ bursar, most, failed: (error, run) => told.failed(error, run) });
  if (flags.once === true) await untilStopped(terminal.signal, worker.drain());
  else {
    told.say(`driving up to ${counted(most, "run")} at the same time; Ctrl-C stops it`);
    worker.start();
    await untilStopped(terminal.signal);
  }
  const driven = worker.runs;
  if (driven.length > 0) told.say("takes no more runs, and waits for the calls that are being made");
  await worker.close({ within_ms: DRAIN_MS });
  await told.left(place.store, driven);
  return { report: null, text: "" };
}

const LONGEST_CLAIM_MS = 3_600_000;

function readClaim(text: string): number {
  const ms = readSpan(text);
  if (ms !== null && ms >= 1000 && ms <= LONGEST_CLAIM_MS) return ms;
  throw new UsageError(`--claim is ${text.slice(0, 40)}; allowed: a time from 1s to 1h`);
}

/** Until the signal comes, or the work is done. */
async function untilStopped(signal: AbortSignal, work?: Promise<void>): Promise<void> {
  // A signal that may come keeps no process alive.
  const alive = setInterval(() => {}, 60_000);
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    await (work === undefined ? stopped : Promise.race([work, stopped]));
  } finally {
    clearInterval(alive);
  }
}

/** What a worker says: a line for each run that stands still or has ended, and each fault once. */
class Telling extends ServiceOutput {
  private readonly faults = new ToldFaults();

  changed(run: RunRecord): void {
    const { id, status, program, pause, failure, cancel } = run;
    const { json, quiet } = this.choice;
    if (json) {
      const report = { run_id: id, status, program: program.name, pause, failure, cancel };
      this.terminal.write(`${JSON.stringify(report)}\n`);
    } else if (!quiet) {
      const why = failure?.message ?? pause?.problem ?? pause?.exhausted_dimension ?? noText(run);
      const line = `${statusText(standingOf(run), this.style)}  ${harmless(id)}  ${this.style.dim(harmless(program.name))}`;
      this.terminal.write(`${line}${why === "" ? "" : `  ${harmless(why)}`}\n`);
    }
  }

  /** Which runs others may go on with, now that nobody drives them here. */
  async left(store: Store, driven: readonly string[]): Promise<void> {
    const documents = await Promise.all(driven.map((id) => store.document("run", id)));
    const queued = documents.flatMap((document) => (document?.status === "queued" ? [harmless(document.id)] : []));
    if (queued.length === 0) return;
    this.say(`let go of ${queued.join(", ")}: queued, and whoever works next goes on where it was`);
  }

  override failed(error: unknown, run: string | null = null): void {
    const line = this.faults.line(error, run);
    if (line !== null) super.failed(line);
  }
}
