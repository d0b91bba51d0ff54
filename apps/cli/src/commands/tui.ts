import { type Equipment, equip } from "../app/equipment/equipment.js";
import { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import { CommandError, shown } from "../app/errors.js";
import { quoted } from "../app/programs/program-needs.js";
import { bursarAt } from "../app/runs/open-bursar.js";
import type { Place } from "../app/store/opened-store.js";
import { command } from "../arguments/command-line.js";
import { equipmentOptions } from "../arguments/equipment-flags.js";
import { readArguments } from "../arguments/parse-arguments.js";
import {
  COMMON,
  COMMON_HELP,
  EQUIPMENT,
  EQUIPMENT_HELP,
  type Flags,
  type Given,
  principalOf,
  textOf,
} from "../arguments/run-flags.js";
import { harmless, styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import type { Left } from "../tui/run-screen.js";
import { EXIT } from "./common/exit-code.js";
import { openPlace } from "./common/place.js";

const HELP = `Usage: bursar tui [flags]

Approvals and runs on the whole screen, as they change: what waits and why, with
amounts to edit, yes and no with a reason; all runs with live bars; a run's
steps and the end of its chain, verified as it grows. ? shows the keys.

What is approved here is driven on in the background, unless a worker is faster.
Whoever quits in the middle leaves runs that can be resumed.

Flags:
  --as <name>        who decides; else the user's name
${EQUIPMENT_HELP}
${COMMON_HELP.replace(/\n.*--json.*/, "")}

It takes a terminal of at least 40 x 10; NO_COLOR is heard. Scripts take
\`bursar approvals --json\`, \`bursar approve\` and \`bursar deny\`.

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar tui
  bursar tui --module tools.mjs --store postgres://bursar@db/bursar
  NO_COLOR=1 bursar tui
`;

/** A screen is nothing for programs: it has no --json. */
const { json: _, ...SEEN } = COMMON;
const FLAGS: Flags = { as: { type: "string" }, ...EQUIPMENT, ...SEEN };

export async function tui(args: readonly string[], terminal: Terminal): Promise<number> {
  const { flags } = readArguments(args, FLAGS, 0);
  if (flags.help) return terminal.finish(EXIT.done, HELP);
  return open(flags as Given, terminal);
}

async function open(flags: Given, terminal: Terminal): Promise<number> {
  const { isTerminal, keys, env, signal } = terminal;
  if (!isTerminal || keys === null || env.TERM === "dumb") {
    throw new CommandError(
      "this takes a terminal with a keyboard, and there is none; `bursar approvals` lists what waits, `bursar approve` and `bursar deny` answer it",
    );
  }
  const by = principalOf(flags);
  await using place = await openPlace(flags, terminal);
  await using equipment = await equip(
    equipmentOptions(flags, { env, config: place.config }),
    place.config,
    new LazySandbox(env),
  );
  const bursar = await bursarAt(place, equipment, terminal);
  const style = styleFor(wantsColour(env, isTerminal));
  const { runScreen } = await loadScreen();
  const left = await runScreen({ bursar, by, style, signal, title: titleOf(flags, place, terminal) });
  return terminal.finish(left.how === "quit" ? EXIT.done : EXIT.interrupted, lastWords(left, flags, equipment));
}

/** What is read once, when Ink and React are loaded, and what they should read then. */
const WHILE_LOADING: Readonly<Record<string, string>> = {
  // Ink draws nothing where it believes that nobody looks; here somebody was found at the keyboard.
  CI: "0",
  CONTINUOUS_INTEGRATION: "0",
  // Otherwise React measures every frame, and keeps the measurements for ever.
  NODE_ENV: "production",
};

/** Loads the screen, which takes as long as all other commands together: hence it is loaded for this one alone. */
async function loadScreen(): Promise<typeof import("../tui/run-screen.js")> {
  const before = Object.keys(WHILE_LOADING).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, WHILE_LOADING);
  try {
    return await import("../tui/run-screen.js");
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

function titleOf(flags: Given, { config }: Place, { env }: Terminal): string {
  const url = textOf(flags, "store") ?? config.store?.url ?? env.BURSAR_STORE ?? "";
  return url === "" ? "bursar" : `bursar ${shown(url)}`;
}

/** The screen is gone; what was done on it is worth a line each. */
function lastWords({ notes, runs }: Left, flags: Given, equipment: Equipment): string {
  const lines = notes.map(({ text }) => harmless(text));
  if (runs.length > 0) {
    lines.push("left in the middle, and can be resumed:");
    const given = equipment.flags.map((word) => ` ${quoted(word)}`).join("");
    lines.push(...runs.map((run) => `    ${command("resume", run, flags, null)}${given}`));
  }
  return lines.map((line) => `${line}\n`).join("");
}
