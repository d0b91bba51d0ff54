import { type ApprovalRequest, type JsonObject, type RunRecord, type Store, systemClock } from "bursar";
import { positionsFor } from "bursar/views";
import type { Choice } from "../app/runs/drive-run.js";
import { approvalText } from "../render/approval.js";
import { bytes } from "../render/quantities.js";
import { facts } from "../render/report.js";
import { statusText } from "../render/run.js";
import { runBars, worthwhile } from "../render/run-bars.js";
import { runFigures } from "../render/run-figures.js";
import { printable, type Style, styleFor, wantsColour, wrap } from "../render/style.js";
import { askPerson } from "../terminal/ask-approval.js";
import { readLine } from "../terminal/line-reader.js";
import { Watching } from "../terminal/run-watch.js";
import type { Terminal } from "../terminal/terminal.js";
import { Narrator } from "./narrator.js";
import { linesOf, type ProgramLine } from "./program-line.js";
import type { RunMoment, RunOpened, RunSummary } from "./run-moment.js";
import type { RunShow } from "./run-scene.js";
import { Tail } from "./tail.js";

const COLUMNS = 80;

/** What was decided before anybody was asked; null leaves it to a person. */
export type Decision = Exclude<Choice, { readonly kind: "leave" }>;

/** The scene for people: lines of text, and bars while somebody looks. */
export class TextShow implements RunShow {
  private readonly terminal: Terminal;
  private readonly decided: Decision | null;
  private readonly style: Style;
  private readonly narrator: Narrator;
  private run: { readonly store: Store; readonly record: RunRecord } | null = null;

  constructor(terminal: Terminal, decided: Decision | null) {
    this.terminal = terminal;
    this.decided = decided;
    this.style = styleFor(wantsColour(terminal.env, terminal.isTerminal));
    this.narrator = new Narrator(this.style);
  }

  async tell(moment: RunMoment): Promise<void> {
    const lines = moment.kind === "summary" ? await this.summary(moment) : this.lines(moment);
    this.terminal.write(lines.map((line) => `${line}\n`).join(""));
  }

  follow(store: Store, record: RunRecord): Watching {
    this.run = { store, record };
    const { write, isTerminal, env } = this.terminal;
    const screen = isTerminal && env.TERM !== "dumb" ? this.terminal : null;
    return new Watching({ store, run: record, style: this.style, write, screen, from: 0 });
  }

  async decide(request: ApprovalRequest): Promise<Choice> {
    const { write, keys, interrupt, signal } = this.terminal;
    const { style, decided } = this;
    if (decided === null && keys !== null) {
      const from = { keys, write, interrupt, signal };
      write(`  ${style.dim("You are asked; a number alone is so much more of what has run out.")}\n`);
      return askPerson(request, async (question) => asAmount(await readLine(question, from), request), write, style);
    }
    const choice: Decision = decided ?? { kind: "approve", reason: "nobody can be asked" };
    const word = choice.kind === "approve" ? style.good("approved") : style.bad("denied");
    write(`${approvalText(request, systemClock.now().instant, style)}  ${word}: ${choice.reason}\n`);
    return choice;
  }

  note(text: string): void {
    this.terminal.write(`  ${this.style.bad("✗")} ${printable(text)}\n`);
  }

  private lines(moment: Exclude<RunMoment, RunSummary>): readonly string[] {
    const { style } = this;
    switch (moment.kind) {
      case "opened":
        return this.opened(moment);
      case "promise":
        return ["", style.bold(`${moment.number}. ${moment.text}`)];
      case "printed":
        return ["  it printed:", ...printedLines(moment.text, style)];
      case "stands": {
        const size = `${bytes(moment.checkpoint_bytes)} of checkpoint in the store; nothing of it runs any more`;
        return [...this.at("‖", "it waits at", moment.line, "warn"), `  ${style.dim(size)}`];
      }
      case "goes_on":
        return this.at("▶", "it goes on at", moment.line, "good");
      case "tampered": {
        const { forged } = moment;
        return this.narrator.tell({ ...moment, forged: { ...forged, step_id: forged.step_id.replace(/^.*\//, "#") } });
      }
      case "verified":
      case "link":
        return this.narrator.tell(moment);
    }
  }

  private opened({ model, store, program, limits }: RunOpened): readonly string[] {
    const { bold, warn, dim } = this.style;
    const number = (line: ProgramLine) => `${dim(`  ${String(line.number).padStart(2)} │`)} ${line.text}`;
    const about = facts(
      [
        ["limits", `${runFigures(limits as JsonObject)}; out of tokens, it asks`],
        ["model", `${model.name}, at ${model.url}`],
        ["store", store],
      ],
      this.style,
    );
    return [
      `${bold("Bursar demo")}: a Python program in the sandbox, inside a budget.`,
      `The model is ${warn("SCRIPTED")}, a server on this machine that speaks a provider's`,
      `protocol. Sandbox, store, budget, approval and chain are ${bold("REAL")}. There is no key,`,
      "no network and no bill.",
      "",
      `  ${bold(program.name)}`,
      ...linesOf(program.code).map(number),
      "",
      ...about.trimEnd().split("\n"),
    ];
  }

  private at(sign: string, what: string, line: ProgramLine | null, paint: "good" | "warn"): readonly string[] {
    const { style } = this;
    if (line === null) return [`  ${style[paint](sign)} ${what} an await`];
    const text = `${style.dim(`${String(line.number).padStart(4)} │`)} ${style[paint](line.text)}`;
    return [`  ${style[paint](sign)} ${what} line ${line.number}:`, text];
  }

  private async summary(summary: RunSummary): Promise<readonly string[]> {
    const { style } = this;
    const { status, model_calls, model_requests, within_limits } = summary;
    const positions = this.run === null ? [] : await positionsFor(this.run.store, this.run.record);
    const twice = model_calls === model_requests ? "nothing was done twice" : "something was done twice";
    const limits = within_limits ? "no limit was passed" : "a limit was passed";
    const said = `${model_requests} requests to the model for ${model_calls} answers: ${twice}, and ${limits}.`;
    return [
      "",
      ...runBars(worthwhile(positions), COLUMNS, style),
      "",
      statusText(status, style),
      ...wrap(said, COLUMNS - 2).map((line) => `  ${line}`),
    ];
  }
}

/** The scene for programs: one JSON object a line. It asks nobody. */
export class JsonShow implements RunShow {
  private readonly write: (text: string) => void;
  private readonly decided: Decision;

  constructor(write: (text: string) => void, decided: Decision) {
    this.write = write;
    this.decided = decided;
  }

  async tell(moment: RunMoment): Promise<void> {
    this.write(`${JSON.stringify(moment)}\n`);
  }

  follow(store: Store, { id }: RunRecord) {
    const tail = new Tail(store, id, (moment) => this.tell(moment));
    return { start: () => {}, rest: () => tail.flush() };
  }

  async decide(): Promise<Choice> {
    return this.decided;
  }

  note(text: string): void {
    this.write(`${JSON.stringify({ kind: "note", text })}\n`);
  }
}

/** A number alone is more of what has run out. */
function asAmount(answer: string | null, { exhausted_dimension: dimension }: ApprovalRequest): string | null {
  const [, amount] = /^\s*\+?(\d{1,12})\s*$/.exec(answer ?? "") ?? [];
  return amount === undefined || dimension === null ? answer : `${dimension}=+${amount}`;
}

function printedLines(text: string, style: Style): readonly string[] {
  const lines = printable(text).trimEnd().split("\n");
  return lines.map((line) => `    ${style.dim("│")} ${line}`);
}
