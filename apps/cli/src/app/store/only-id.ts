import { CommandError, shown } from "../errors.js";

const MOST_NAMED = 5;
const LONGEST = 100;

/** The id that is meant: this one, or the only one that begins so. */
export function onlyId(
  ids: readonly string[],
  word: string,
  { what, command }: { readonly what: string; readonly command: string },
): string {
  const found = ids.filter((id) => id.startsWith(word));
  const exact = found.find((id) => id === word) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact;
  const given = shown(word).slice(0, LONGEST);
  if (found.length === 0) throw new CommandError(`there is no ${what} ${given}; \`${command}\` lists them`);
  const named = found.slice(0, MOST_NAMED).join(", ");
  throw new CommandError(`${given} is the beginning of ${found.length} ${what}s: ${named}; give more of it`);
}
