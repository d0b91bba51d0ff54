import { type Bursar, type Model, openBursar, type Program, type ProgramRef, RunError, type Store } from "bursar";
import type { Configuration } from "bursar/config";
import type { Terminal } from "../terminal.js";
import { webhookOf } from "./place.js";

/**
 * Opens what can end runs but not go on with them, so that to cancel one takes nothing of what it needs. That a call to
 * a model was under way has to be known all the same: it is paid for.
 */
export function openEnding(
  { store, config }: { readonly store: Store; readonly config: Configuration },
  terminal: Terminal,
): Bursar {
  const webhook = webhookOf(config, terminal);
  return openBursar({ store, model: UNASKED, revive: unplayed, ...(webhook !== undefined && { webhook }) });
}

function nothing(): RunError {
  return new RunError("unknown_program", "this process only ends runs, and goes on with none");
}

const UNASKED: Model = {
  quote: () => ({}),
  call: () => Promise.reject(nothing()),
};

function unplayed({ kind, name, digest, source }: ProgramRef): Program {
  return { kind, name, digest, source, play: () => ({ result: Promise.reject(nothing()) }) };
}
