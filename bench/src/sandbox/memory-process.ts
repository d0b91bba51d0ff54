import { PythonGuest } from "../../../packages/sandbox/dist/python/python-guest.js";
import { PAGES, pythonParts } from "./python-parts.js";

/*
 * Run by bench/sandbox-start in a process of its own, with its collector within reach. Makes Python sessions that are all
 * alive at once, sees that none of them knows of another, and prints what each has added to the memory of the process.
 */

export interface MemoryUse {
  readonly sessions: number;
  /** Resident, for each session. */
  readonly bytes: number;
}

const FUEL = 1_000_000_000;
/** The first ones also pay for what they share, such as compiled code. */
const FIRST = 3;

function execute(guest: PythonGuest, code: string): string {
  guest.host.stdout.clear();
  guest.begin({ code }, { fuel: FUEL, onSlice: () => {} });
  return guest.host.stdout.text();
}

function resident(): number {
  (globalThis as { readonly gc?: () => void }).gc?.();
  return process.memoryUsage.rss();
}

const sessions = Number(process.argv[2] ?? "1");
const parts = await pythonParts();
const open = (name: string): PythonGuest => {
  const guest = new PythonGuest(parts, { memoryPages: PAGES });
  guest.prepare({ paths: [], env: {} });
  execute(guest, `mine = "${name}"`);
  return guest;
};
const first = Array.from({ length: FIRST }, (_, index) => open(`first ${index}`));
const before = resident();
const guests = Array.from({ length: sessions }, (_, index) => open(`session ${index}`));
const bytes = (resident() - before) / sessions;
for (const [index, guest] of guests.entries()) {
  const said = execute(guest, "print(mine)");
  if (said !== `session ${index}\n`) throw new Error(`session ${index} says it is ${said}`);
}
if (execute(first[0] as PythonGuest, "print(mine)") !== "first 0\n") throw new Error("the first session has changed");
console.log(JSON.stringify({ sessions, bytes } satisfies MemoryUse));
