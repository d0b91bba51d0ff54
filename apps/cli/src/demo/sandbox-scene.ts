import { openSandbox, type SandboxResult } from "@bursar/sandbox";
import { executionText } from "../render/execution.js";
import { printable, type Style, styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { ENDLESS, ENDLESS_FUEL } from "./endless.js";

/** Runs a program that never ends in the sandbox, and shows how it is stopped, and what its author is told. */
export async function playSandbox(terminal: Terminal, json: boolean): Promise<number> {
  const { write, finish, env, isTerminal, signal } = terminal;
  const style = styleFor(wantsColour(env, isTerminal));
  if (!json) write(intro(style));
  await using sandbox = await openSandbox({ workers: 1 });
  const session = await sandbox.createSession({
    language: "python",
    autoPersistGlobals: true,
    fuelBudget: ENDLESS_FUEL,
  });
  await session.execute("task = 'find primes'", { signal });
  const stopped = await session.execute(ENDLESS, { signal });
  const after = await session.execute("print('still here, and', repr(task), 'is what I was asked for')", { signal });
  const good = stopped.metadata.trap_reason === "out_of_fuel" && after.success;
  const said = json ? `${JSON.stringify({ stopped, after })}\n` : outcome(stopped, after, style);
  return finish(good ? 0 : 1, said);
}

function intro(style: Style): string {
  const program = ENDLESS.split("\n").map((line) => `    ${line}\n`);
  return `\n${style.bold("In the sandbox")}: a program of an agent's that never ends, with ${ENDLESS_FUEL / 1e6}M fuel.\n\n${program.join("")}\n`;
}

function outcome(stopped: SandboxResult, after: SandboxResult, style: Style): string {
  const next = `${style.good("✓")} the session lives on: ${printable(after.stdout)}`;
  return `${executionText(stopped, style)}\n${next}  Try it: bursar exec -c 'print(6 * 7)'\n`;
}
