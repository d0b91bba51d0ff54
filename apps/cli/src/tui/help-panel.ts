import type { Style } from "../render/style.js";

const KEYS: readonly (readonly [string, string])[] = [
  ["↑ ↓  j k", "choose; on a run's page, go back and forth"],
  ["Enter", "the run's page; Esc leaves it"],
  ["Tab  1 2", "approvals, runs; on a page: steps, chain"],
  ["a", "approve: amounts can be edited first, Enter decides"],
  ["d", "deny, with a reason"],
  ["r", "resume a run; what has expired is asked anew"],
  ["c", "cancel a run"],
  ["PgUp PgDn Home End", "further"],
  ["Ctrl-L", "draw the screen anew"],
  ["q", "quit; Ctrl-C at once"],
];

/** All keys, on one screen. */
export function helpPanel(style: Style): readonly string[] {
  const keys = KEYS.map(([key, what]) => `  ${style.bold(key.padEnd(20))}${what}`);
  return [...keys, "", style.dim("  Bars: █ used  ▒ held for calls under way  ░ free.")];
}
