/** Deeper values break programs that walk or copy them; no sensible question needs this. */
const DEEPEST = 64;
const MOST_PARTS = 100_000;

/** Why a value that a guest has written cannot be taken: too deep, too large, or with a key that could change a prototype. */
export function wildness(value: unknown): string | null {
  let level: readonly unknown[] = [value];
  let parts = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return `are nested more than ${DEEPEST} deep`;
    const next: unknown[] = [];
    for (const part of level) {
      if (typeof part !== "object" || part === null) continue;
      // Whoever copies such a key with an assignment would change a prototype.
      if (Object.hasOwn(part, "__proto__")) return "have a key named __proto__";
      for (const inner of Object.values(part)) next.push(inner);
    }
    parts += next.length;
    if (parts > MOST_PARTS) return `have more than ${MOST_PARTS} parts`;
    level = next;
  }
  return null;
}
