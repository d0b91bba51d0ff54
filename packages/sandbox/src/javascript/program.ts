import { MemoryExhausted } from "../wasm/memory-exhausted.js";
import type { Outcome } from "../wasm/outcome.js";
import type { Box } from "./exports.js";
import type { HostSide } from "./host-side.js";
import type { Machine } from "./machine.js";
import { EVALUATE, Thrown } from "./quickjs.js";

/** A script shares its top-level names with those that follow; a module has its own, and can import and export. */
export type SourceKind = "script" | "module";

export interface Source {
  readonly name?: string;
  readonly kind?: SourceKind | "auto";
  readonly interactive?: boolean;
}

/** An answer as the guest's own code takes it: a value as JSON, a message, or both parts of a refusal as JSON. */
export interface AnswerText {
  readonly id: number;
  readonly kind: "value" | "failure" | "refusal";
  readonly text: string;
}

const DEFAULT_NAME = "<main>";
const FAILED = 1;
/** What Node leaves with when a top-level `await` waits for something that cannot come. */
const UNSETTLED = 13;
const MOST_REPORTED = 10;
const LONGEST_REPORT = 100_000;

/** One program in a guest, from its source to its end. */
export class Program {
  readonly machine: Machine;
  private readonly host: HostSide;
  /** The promise of its end; null while there is none. */
  main: Box | null;
  private interactive = false;
  /** An exception that nobody has caught; the program is over then. */
  private uncaught: Box | null = null;
  private incomplete = false;

  constructor(machine: Machine, host: HostSide, main: Box | null) {
    this.machine = machine;
    this.host = host;
    this.main = main;
  }

  /** Compiles the program and runs it up to its first wait. */
  begin(code: string, source: Source): void {
    this.interactive = source.interactive ?? false;
    const name = source.name ?? DEFAULT_NAME;
    const kind = source.kind === undefined || source.kind === "auto" ? this.kindOf(code, name) : source.kind;
    const { quickjs } = this.machine;
    this.attempt(() => {
      this.main = quickjs.evaluate(code, name, kind === "module" ? EVALUATE.module : EVALUATE.asyncScript);
      quickjs.markHandled(this.main);
    });
    if (this.interactive && this.uncaught !== null) this.incomplete = this.isUnfinished(code, this.uncaught);
  }

  /** Brings answers to the calls that wait for them. */
  settle(answers: readonly AnswerText[]): void {
    for (const { id, kind, text } of answers) {
      this.host.open.delete(id);
      this.attempt(() => this.machine.askBoolean("settle", [id, kind, text]));
    }
  }

  /** Runs all reactions to promises; gives the outcome when the program is over. */
  runReactions(): Outcome | null {
    const { quickjs } = this.machine;
    while (this.isGoing && quickjs.hasReaction) this.attempt(() => quickjs.runReaction());
    if (this.host.exitCode !== null) return this.exited(this.host.exitCode);
    if (this.incomplete) return { kind: "incomplete" };
    if (this.uncaught !== null) return this.fail("", [this.uncaught]);
    if (this.main !== null && quickjs.promise(this.main).state === "rejected") {
      return this.fail("", [quickjs.promiseResult(this.main)]);
    }
    const reasons = [...this.host.rejections.values()].map(({ reason }) => reason);
    return reasons.length === 0 ? null : this.fail("Unhandled promise rejection: ", reasons);
  }

  /** When the next timer is due, in milliseconds since 1970; -1 when there is none. */
  nextTimer(): number {
    return this.machine.askNumber("nextTimer", []);
  }

  fireTimer(now: number): void {
    this.attempt(() => this.machine.quickjs.free(this.machine.ask("fireTimer", [now])));
  }

  /** What it means that there is nothing more to do here. */
  stand(): Outcome {
    const { open, asked } = this.host;
    if (open.size > 0) return { kind: "pending", calls: asked, open: [...open.keys()] };
    const { quickjs } = this.machine;
    const isOver = this.main === null || quickjs.promise(this.main).state !== "pending";
    if (!isOver) {
      this.say("Warning: the program ended while a top-level await was still waiting\n");
      return { kind: "ended", exit_code: UNSETTLED };
    }
    if (this.interactive && this.main !== null) this.showValue(this.main);
    return { kind: "ended", exit_code: 0 };
  }

  /** Lets go of everything the program still holds. */
  finish(): void {
    const { quickjs } = this.machine;
    this.machine.finish();
    for (const rejection of this.host.rejections.values()) this.host.dropRejection(rejection);
    for (const box of [this.main, this.uncaught]) if (box !== null) quickjs.free(box);
    this.main = null;
    this.uncaught = null;
  }

  private exited(exit_code: number): Outcome {
    return { kind: "ended", exit_code, ...(this.interactive && { exited: true }) };
  }

  private get isGoing(): boolean {
    return this.host.exitCode === null && this.uncaught === null;
  }

  /** Does something in the guest; an exception out of it is the program's, and ends it. */
  private attempt(work: () => void): void {
    if (!this.isGoing) return;
    try {
      work();
    } catch (error) {
      if (!(error instanceof Thrown)) throw error;
      this.uncaught = this.machine.quickjs.takeException();
    }
  }

  /** Whether source code ends in the middle of something: then the engine complains about its end, or about what has none. */
  private isUnfinished(code: string, error: Box): boolean {
    const place = this.textOf(error, "stack").match(/:(\d+):(\d+)\s*$/);
    if (place === null) return false;
    const [line, column] = [Number(place[1]), Number(place[2])];
    const lines = code.split("\n");
    const message = this.textOf(error, "message");
    if (message === "unexpected end of comment") return true;
    if (message === "unexpected end of string") return lines[line - 1]?.[column - 1] === "`";
    return line >= lines.length && column > (lines.at(-1)?.length ?? 0);
  }

  private textOf(error: Box, key: string): string {
    const { quickjs } = this.machine;
    try {
      const value = quickjs.property(error, key);
      const text = quickjs.text(value, LONGEST_REPORT) ?? "";
      quickjs.free(value);
      return text;
    } catch (thrown) {
      if (!(thrown instanceof Thrown)) throw thrown;
      quickjs.free(quickjs.takeException());
      return "";
    }
  }

  /** The syntax decides: what does not parse as a script, and has a statement that only modules have, is a module. */
  private kindOf(code: string, name: string): SourceKind {
    if (!/\b(?:import|export)\b/.test(code)) return "script";
    const { quickjs } = this.machine;
    try {
      quickjs.free(quickjs.evaluate(code, name, EVALUATE.asyncScript | EVALUATE.compileOnly));
      return "script";
    } catch (error) {
      if (!(error instanceof Thrown)) throw error;
      quickjs.free(quickjs.takeException());
      return /(?:^|[;}])\s*(?:import\s*["'{*\w$]|export\s*[{*\w])/m.test(code) ? "module" : "script";
    }
  }

  /** Tells why the program is over. */
  private fail(title: string, errors: readonly Box[]): Outcome {
    for (const error of errors.slice(0, MOST_REPORTED)) {
      if (this.isOutOfMemory(error)) throw new MemoryExhausted();
      this.say(`${title}${this.show(error)}\n`);
    }
    const more = errors.length - MOST_REPORTED;
    if (more > 0) this.say(`${title}${more} more\n`);
    return { kind: "ended", exit_code: FAILED };
  }

  private isOutOfMemory(error: Box): boolean {
    try {
      return this.machine.askBoolean("isOutOfMemory", [{ box: error }]);
    } catch (thrown) {
      // Not even that could be asked: there is really nothing left.
      if (thrown instanceof Thrown) return true;
      throw thrown;
    }
  }

  private show(value: Box): string {
    const { quickjs } = this.machine;
    try {
      const shown = this.machine.ask("show", [{ box: value }]);
      const text = quickjs.utf8(shown, LONGEST_REPORT);
      quickjs.free(shown);
      return new TextDecoder().decode(text?.bytes);
    } catch (thrown) {
      if (!(thrown instanceof Thrown)) throw thrown;
      quickjs.free(quickjs.takeException());
      return "an error that cannot be shown";
    }
  }

  /** A script's value comes wrapped, so that a promise can be one. */
  private showValue(main: Box): void {
    const { quickjs } = this.machine;
    const result = quickjs.promiseResult(main);
    const value = quickjs.property(result, "value");
    if (!quickjs.isUndefined(value)) this.write("stdout", `${this.show(value)}\n`);
    quickjs.free(value);
    quickjs.free(result);
  }

  private say(text: string): void {
    this.write("stderr", text);
  }

  private write(stream: "stdout" | "stderr", text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.host.stage?.[stream].write(bytes, 0, bytes.length);
  }
}
