import { type Configuration, printProblem } from "bursar/config";
import * as stores from "../../app/store/opened-store.js";
import { type Given, textOf } from "../../arguments/run-flags.js";
import type { Terminal } from "../../terminal/terminal.js";

type Place = stores.Place;

/** The configuration that the flags name, or the one that applies here. */
export function configOf(flags: Given, { env }: Pick<Terminal, "env">): Configuration {
  return stores.readConfiguration(textOf(flags, "config"), env);
}

/** Opens the store for a command that only looks for what is there. */
export async function openPlace(flags: Given, terminal: Terminal): Promise<Place> {
  const config = configOf(flags, terminal);
  warnOfIgnoredStore(config, flags);
  return stores.openPlace(config, storeUrl(flags, config), terminal.env);
}

/** Opens the store for a command that also works without one. */
export async function lookPlace(flags: Given, config: Configuration, { env }: Terminal): Promise<Place> {
  return stores.lookPlace(config, storeUrl(flags, config), env);
}

/** Opens the store for a command that starts something, and makes it where there is none. */
export async function makePlace(flags: Given, config: Configuration, { env }: Terminal): Promise<Place> {
  return stores.makePlace(config, storeUrl(flags, config), env);
}

/** A command that looks for runs in one store while they are in another says why. */
function warnOfIgnoredStore(config: Configuration, { json, quiet, store }: Given): void {
  if (json === true || quiet === true || store !== undefined) return;
  const ignored = config.ignored.filter(({ field }) => field === "store");
  for (const problem of ignored) process.stderr.write(`bursar: warning: ${printProblem(problem)}\n`);
}

/** The store that flags and configuration name; undefined for the one of the environment, or the user's own. */
export function storeUrl(flags: Given, config: Configuration): string | undefined {
  return textOf(flags, "store") ?? config.store?.url;
}

/** Whether the store outlives the process. */
export function isKept(flags: Given, config: Configuration, { env }: Terminal): boolean {
  return !/^memory:/i.test(storeUrl(flags, config) ?? env.BURSAR_STORE ?? "");
}
