import { type Needs, quoted } from "../app/programs/program-needs.js";
import { mayHoldLogin } from "../app/store/store-login.js";
import { type Given, textOf } from "./run-flags.js";

/** A command line to copy; a login that is in a URL is not repeated. */
export function command(name: string, id: string, flags: Given, needs: Needs | null): string {
  const words = ["bursar", name, id, ...placeFlags(flags), ...(needs?.flags ?? [])];
  return words.map(quoted).join(" ");
}

function placeFlags(flags: Given): readonly string[] {
  const words: string[] = [];
  const store = textOf(flags, "store");
  const config = textOf(flags, "config");
  if (store !== undefined && !mayHoldLogin(store)) words.push("--store", store);
  if (config !== undefined) words.push("--config", config);
  return words;
}
