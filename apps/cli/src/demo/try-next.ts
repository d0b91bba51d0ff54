import { styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";

const TRIES: readonly (readonly [command: string, what: string])[] = [
  ["npx bursar demo --deny", "say no"],
  ["npx bursar demo --store sqlite:demo.db", "keep the run, and then"],
  ["npx bursar show triage --store sqlite:demo.db", "look at it"],
  ["npx bursar demo --budgets", "a tree of budgets, and a race"],
  ["npx bursar run your.py --budget steps=20", "a program of your own"],
];
const COMMAND_COLUMNS = 47;

/** What somebody may want to do who has seen the run. */
export function tryNext({ env, isTerminal }: Pick<Terminal, "env" | "isTerminal">): string {
  const { bold, dim } = styleFor(wantsColour(env, isTerminal));
  const lines = TRIES.map(([command, what]) => `  ${command.padEnd(COMMAND_COLUMNS)}${dim(what)}\n`);
  return `\n${bold("Try next")}\n${lines.join("")}`;
}
