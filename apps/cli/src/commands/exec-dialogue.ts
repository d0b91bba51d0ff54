import { createInterface } from "node:readline";
import type { Language, SandboxSession } from "@bursar/sandbox";
import { executionText } from "../render/execution.js";
import { printable, styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal.js";

const PROMPTS: Readonly<Record<Language, readonly [first: string, more: string]>> = {
  python: [">>> ", "... "],
  javascript: ["> ", "… "],
};

/** Statement by statement, with a person at the keyboard. Everything lives on until the end of the input. */
export async function converse(session: SandboxSession, language: Language, terminal: Terminal): Promise<number> {
  const { env, isTerminal, signal } = terminal;
  const style = styleFor(wantsColour(env, isTerminal));
  const [first, more] = PROMPTS[language];
  terminal.write(`${language} in a sandbox; end with Ctrl-D. Nothing you do here leaves it.\n`);
  using lines = new Lines(signal);
  for (let code = ""; ; ) {
    const line = await lines.ask(code === "" ? first : more);
    if (line === null) break;
    // An empty line ends a block.
    const result = await session.execute(`${code}${line}\n`, { interactive: true, signal });
    const unfinished = line !== "" && result.success && result.stdout === "" && result.metadata.incomplete === true;
    code = unfinished ? `${code}${line}\n` : "";
    if (unfinished) continue;
    terminal.write(printable(`${result.stdout}${result.stderr}`));
    if (!result.success && result.metadata.trap_reason !== null) terminal.write(executionText(result, style));
  }
  terminal.write("\n");
  return 0;
}

/** Lines from the keyboard, until there are no more. What is typed ahead waits for its turn. */
class Lines implements Disposable {
  private readonly reader = createInterface({ input: process.stdin, output: process.stdout });
  private readonly lines = this.reader[Symbol.asyncIterator]();

  constructor(signal: AbortSignal) {
    signal.addEventListener("abort", () => this.reader.close(), { once: true });
  }

  async ask(prompt: string): Promise<string | null> {
    this.reader.setPrompt(prompt);
    this.reader.prompt();
    const { done, value } = await this.lines.next();
    return done ? null : value;
  }

  [Symbol.dispose](): void {
    this.reader.close();
  }
}
