import type { Language, SandboxResult, SandboxSession } from "@bursar/sandbox";
import { cutText, executionText } from "../render/execution.js";
import { printable, styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { DialogueLines } from "./exec-lines.js";

const PROMPTS: Readonly<Record<Language, readonly [first: string, more: string]>> = {
  python: [">>> ", "... "],
  javascript: ["> ", "… "],
};

const INTERRUPTED = 130;

/**
 * Statement by statement, with a person at the keyboard. Everything lives on until the end of the input, or until a program
 * leaves. Ctrl-C ends what is running, or drops what was typed, and nothing else.
 */
export async function converse(session: SandboxSession, language: Language, terminal: Terminal): Promise<number> {
  const [first, more] = PROMPTS[language];
  terminal.write(`${language} in a sandbox; end with Ctrl-D. Nothing you do here leaves it.\n`);
  using lines = new DialogueLines(terminal.signal);
  for (let code = ""; ; ) {
    const line = await lines.ask(code === "" ? first : more);
    if (line.kind === "end") break;
    code = line.kind === "interrupt" ? "" : `${code}${line.text}`;
    if (code === "") continue;
    const result = await carryOut(session, code, lines, terminal);
    code = result.metadata.incomplete === true ? `${code}\n` : "";
    if (result.metadata.exited === true) return result.exit_code;
  }
  terminal.write("\n");
  return terminal.signal.aborted ? INTERRUPTED : 0;
}

/** Shows what a statement prints as it comes, and what has become of it if it was stopped. */
async function carryOut(
  session: SandboxSession,
  code: string,
  lines: DialogueLines,
  { env, isTerminal, signal, write }: Terminal,
): Promise<SandboxResult> {
  const stopping = new AbortController();
  lines.onInterrupt = () => stopping.abort();
  const result = await session.execute(code, {
    interactive: true,
    signal: AbortSignal.any([signal, stopping.signal]),
    onOutput: ({ text }) => write(printable(text)),
  });
  lines.onInterrupt = null;
  const cut = cutText(result);
  if (cut !== null) write(`(${cut}: the statement printed more than --output allows)\n`);
  if (result.exit_code === INTERRUPTED && stopping.signal.aborted)
    write("^C: it was stopped, and left nothing behind\n");
  else if (result.metadata.trap_reason !== null) write(executionText(result, styleFor(wantsColour(env, isTerminal))));
  return result;
}
