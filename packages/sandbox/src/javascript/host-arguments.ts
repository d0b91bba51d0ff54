/** Deeper values break programs that walk them; no sensible call needs this. */
const DEEPEST = 64;
const MOST_PARTS = 100_000;

/** What the guest passed to `host.call`, or why it cannot be taken. */
export type HostArguments =
  | { readonly kind: "taken"; readonly value: unknown }
  | { readonly kind: "refused"; readonly message: string };

/** Reads arguments that a guest has written: untrusted text, of bounded length. */
export function readArguments(text: string): HostArguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused("are not valid JSON");
  }
  let level: readonly unknown[] = [value];
  let parts = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return refused(`are nested more than ${DEEPEST} deep`);
    const next: unknown[] = [];
    for (const part of level) {
      if (typeof part !== "object" || part === null) continue;
      // Whoever copies such a key with an assignment would change a prototype.
      if (Object.hasOwn(part, "__proto__")) return refused("have a key named __proto__");
      for (const inner of Object.values(part)) next.push(inner);
    }
    parts += next.length;
    if (parts > MOST_PARTS) return refused(`have more than ${MOST_PARTS} parts`);
    level = next;
  }
  return { kind: "taken", value };
}

function refused(problem: string): HostArguments {
  return { kind: "refused", message: `the arguments of host.call ${problem}` };
}
