import type { Json } from "../core/chain/canonical.js";
import type { Asked, OwnEffect } from "../ports/program.js";
import { quiet } from "./desk.js";
import { ReplayError, readError } from "./error.js";
import { type Answered, type AskEntry, digestOf, type Journal } from "./journal.js";

interface Open {
  readonly ask: AskEntry;
  readonly own: OwnEffect | undefined;
  readonly promise: Promise<Json>;
  readonly resolve: (value: Json) => void;
  readonly reject: (error: Error) => void;
}

/** Where a program begins: from the beginning, or from where it was saved. */
export interface Position {
  /** How many effects it had asked for. */
  readonly made: number;
  /** How many answers it had got. */
  readonly delivered: number;
  /** What it had asked for and not been told yet. */
  readonly open: readonly AskEntry[];
}

export const BEGINNING: Position = { made: 0, delivered: 0, open: [] };

export interface PlayerOptions {
  readonly run: string;
  readonly journal: Journal;
  readonly from: Position;
  readonly epoch: number;
  readonly now: () => number;
  /** Called for everything that has no answer yet. */
  readonly perform: (ask: AskEntry, own: OwnEffect | undefined) => void;
  readonly diverged: (error: ReplayError) => void;
}

/**
 * Numbers what a program asks for, and hands it the answers one at a time, each only after the program has done all it could
 * with the one before. In a replay the answers come in the order in which they came the first time, so a program that is
 * the same asks for the same, however much of it goes on at once.
 */
export class Player {
  private readonly options: PlayerOptions;
  private readonly open = new Map<number, Open>();
  /** What the program had asked for when it was saved; it may want to know after the answer has come. */
  private readonly before = new Map<number, Promise<Json>>();
  private made: number;
  private delivered: number;
  /** Until it is done, nothing is carried out: what was asked for may have an answer. */
  private replaying = true;
  private over = false;
  /** Called whenever the program asks for something. */
  private noticed: () => void = () => {};
  private turn: Promise<unknown> = Promise.resolve();

  constructor(options: PlayerOptions) {
    this.options = options;
    const { from, journal } = options;
    this.made = from.made;
    this.delivered = from.delivered;
    for (const saved of from.open) {
      const since = journal.asks.get(saved.number)?.epochs ?? [];
      // It may have been tried again after the program was saved.
      const ask = { ...saved, epochs: [...saved.epochs, ...since] };
      const entry = opened(ask);
      this.open.set(ask.number, entry);
      this.before.set(ask.number, entry.promise);
    }
  }

  get position(): Position {
    const { epoch } = this.options;
    const open = [...this.open.values()].map(({ ask }) => ({ ...ask, epochs: [...new Set([...ask.epochs, epoch])] }));
    return { made: this.made, delivered: this.delivered, open };
  }

  /** Whether the program is still being told what it was told before. */
  get isReplaying(): boolean {
    return this.replaying;
  }

  /** Asks for an effect, as the program does. */
  ask(name: string, args: Json, own?: OwnEffect): Asked {
    const number = this.made++;
    if (this.over) return { number, answer: new Promise(() => {}) };
    const digest = digestOf(name, args);
    const known = this.options.journal.asks.get(number);
    const ask = known ?? { number, name, args, digest, after: this.delivered, instant: this.options.now(), epochs: [] };
    const entry = opened(ask, own);
    this.open.set(number, entry);
    if (known !== undefined && (known.digest !== digest || known.after !== this.delivered)) {
      const how = known.name === name ? " with other arguments, or at another point" : "";
      this.diverge(`as its effect ${number} it asked for ${known.name}, and now for ${name}${how}`);
    } else if (!this.replaying) this.options.perform(ask, own);
    this.noticed();
    return { number, answer: entry.promise };
  }

  askedBefore(number: number): Promise<Json> {
    return this.before.get(number) ?? Promise.reject(new Error(`nothing was asked for as ${number}`));
  }

  /** Tells the program again what it was told before, then lets go on what had no answer. */
  async replay(): Promise<void> {
    for (const { number, answered } of this.options.journal.answers) {
      await this.untilMade();
      if (this.over) return;
      this.tell(number, answered);
      await quiet();
    }
    await this.untilMade();
    if (this.over) return;
    this.replaying = false;
    for (const { ask, own } of [...this.open.values()]) this.options.perform(ask, own);
  }

  /**
   * Hands an answer to the program when its turn has come, and says which of the answers it was; null when it is too late.
   * Just before, `accept` is told which one it would be, and may think better of it.
   */
  hand(number: number, answered: Answered, accept: (at: number) => boolean = () => true): Promise<number | null> {
    return new Promise((resolve, reject) => {
      this.turn = this.turn.then(async () => {
        if (this.over || !this.open.has(number) || !accept(this.delivered)) return resolve(null);
        resolve(this.tell(number, answered));
        await quiet();
      }, reject);
    });
  }

  /** Does something while no answer is handed out. */
  between<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => {});
    return done;
  }

  /** From now on the program is told nothing, and nothing it asks for is done. */
  stop(): void {
    this.over = true;
    this.open.clear();
    this.noticed();
  }

  /** The program has come to its end, which it must not before everything was as it was before. */
  ended(): void {
    const { journal, from } = this.options;
    const before = journal.asks.has(this.made) || this.delivered < from.delivered + journal.answers.length;
    if (before) this.diverge("it ended before it did all it had done");
  }

  private tell(number: number, answered: Answered): number {
    const entry = this.open.get(number);
    this.open.delete(number);
    if ("value" in answered) entry?.resolve(answered.value);
    else entry?.reject(readError(answered.error));
    return this.delivered++;
  }

  /** Waits until the program has asked for all that it asked for before it had its next answer. */
  private async untilMade(): Promise<void> {
    while (!this.over) {
      // What is asked for later was asked for after no fewer answers, so the next one tells.
      const next = this.options.journal.asks.get(this.made);
      if (next === undefined || next.after > this.delivered) return;
      await new Promise<void>((resolve) => {
        this.noticed = resolve;
      });
    }
  }

  private diverge(problem: string): void {
    if (!this.over) this.options.diverged(new ReplayError(this.options.run, problem));
    this.stop();
  }
}

function opened(ask: AskEntry, own?: OwnEffect): Open {
  let resolve: Open["resolve"] = () => {};
  let reject: Open["reject"] = () => {};
  const promise = new Promise<Json>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // A program may never look at an answer; that is no reason to end the process.
  promise.catch(() => {});
  return { ask, own, promise, resolve, reject };
}
