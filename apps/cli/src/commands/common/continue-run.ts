import { type Bursar, claimOf, type Principal, RunError, type RunRecord, type Store } from "bursar";
import { equip } from "../../app/equipment/equipment.js";
import { LazySandbox } from "../../app/equipment/lazy-sandbox.js";
import { needsOf } from "../../app/programs/program-needs.js";
import { type Company, driveOn } from "../../app/runs/drive-run.js";
import { bursarAt } from "../../app/runs/open-bursar.js";
import { Printing } from "../../app/runs/program-printing.js";
import type { Place } from "../../app/store/opened-store.js";
import { equipmentOptions } from "../../arguments/equipment-flags.js";
import { type Given, principalOf } from "../../arguments/run-flags.js";
import type { Terminal } from "../../terminal/terminal.js";
import type { Done } from "./run-command.js";
import { companyFor } from "./run-company.js";
import { interrupted, outcomeOf } from "./run-outcome.js";

export interface GoingOn {
  readonly place: Place;
  readonly flags: Given;
  readonly terminal: Terminal;
  /** The run that is driven, which may be above the one that something is decided about. */
  readonly run: RunRecord;
  /** The run that something is decided about. */
  readonly about?: RunRecord;
}

/** Does something to a run that has been started, and drives it on in this process. */
export async function goOn(
  { place, flags, terminal, run, about = run }: GoingOn,
  act: (bursar: Bursar, by: Principal) => Promise<unknown>,
): Promise<Done> {
  const by = principalOf(flags);
  await using equipment = await equip(
    equipmentOptions(flags, { env: terminal.env, config: place.config }),
    place.config,
    new LazySandbox(terminal.env),
  );
  const from = ((await place.store.head(run.budget))?.seq ?? -1) + 1;
  const printing = new Printing();
  await using bursar = await bursarAt(place, equipment, terminal, { printed: printing.printed });
  await checkEquipped(bursar, run, about, flags["replay-changed"] === true);
  const company = companyFor(run, bursar, by, { flags, terminal, from, printing });
  const held_ms = await heldFor(place.store, run.id);
  if (held_ms > 0 && flags.quiet !== true) {
    const seconds = Math.ceil(held_ms / 1000);
    company.note(`another process has run ${run.id}; if it is gone, this one takes over in ${seconds} s`);
  }
  return await accompanied(run, company, { flags, terminal }, () => act(bursar, by));
}

/** Before anything is decided: a yes that nothing comes of here is left to whoever can use it. */
async function checkEquipped(bursar: Bursar, run: RunRecord, about: RunRecord, replayChanged: boolean): Promise<void> {
  const missing = new Set<string>();
  for (const { id } of new Set([run, about])) {
    for (const each of await bursar.missingFor(id, { replayChanged })) missing.add(each);
  }
  if (missing.size === 0) return;
  const why = [...missing].join("; ");
  throw new RunError("not_equipped", `${why}; or add --detach, and a worker that has it all goes on`);
}

/** How long a run stays with the process that has it, unless that one says more. */
async function heldFor(store: Store, run: string): Promise<number> {
  const { worker, expires } = await claimOf(store, run);
  return worker === null ? 0 : Math.max(0, expires - store.clock.now().instant);
}

/** Drives a run in company to where it stands still, and says how it stands. */
export async function accompanied(
  run: RunRecord,
  company: Company,
  { flags, terminal }: { readonly flags: Given; readonly terminal: Terminal },
  act: () => Promise<unknown> = async () => {},
): Promise<Done> {
  const { bursar, signal, start, rest } = company;
  try {
    start();
    const acting = act();
    const stopped = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    await Promise.race([acting, stopped]);
    await rest();
    return await outcomeOf(bursar, await driveOn(run.id, company), flags, terminal);
  } catch (error) {
    await rest();
    if (!signal.aborted) throw error;
    return interrupted(run.id, flags, needsOf(run.program));
  }
}
