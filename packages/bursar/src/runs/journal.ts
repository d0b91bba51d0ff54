import { canonicalize, type Json, type JsonObject } from "../core/chain/canonical.js";
import type { JournalOperation, Operation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import { sha256Hex } from "../runtime/crypto.js";
import type { WrittenError } from "./error.js";

/** An effect that a program has asked for. */
export interface AskEntry {
  readonly number: number;
  readonly name: string;
  readonly args: Json;
  readonly digest: string;
  /** How many answers the program had when it asked. */
  readonly after: number;
  /** When it asked for the first time. */
  readonly instant: number;
  /** The claims under which it was tried: each try is a call of its own. */
  readonly epochs: readonly number[];
}

/** What became of an effect, as the program was told. */
export type Answered = { readonly value: Json } | { readonly error: WrittenError };

export interface AnswerEntry {
  readonly number: number;
  /** Which of the answers it was. */
  readonly at: number;
  readonly answered: Answered;
}

/** What a run has asked for and was told since its last checkpoint. */
export interface Journal {
  readonly asks: ReadonlyMap<number, AskEntry>;
  readonly answers: readonly AnswerEntry[];
}

/**
 * Under which name the journal of a run is kept. Each snapshot begins a new part, so that to resume an old run takes no longer
 * than to resume a young one.
 */
export function partOf(run: string, part: number): string {
  return part === 0 ? run : `${run}:${part}`;
}

export function digestOf(name: string, args: Json): string {
  return sha256Hex(canonicalize({ name, args }));
}

/** Entries are written once, so whatever is tried again under another claim has a key of its own. */
export function journalAsk(run: string, part: number, ask: AskEntry, epoch: number): JournalOperation {
  const { number, name, args, digest, after, instant } = ask;
  return {
    op: "journal",
    run: partOf(run, part),
    key: `ask ${number} ${epoch}`,
    entry: { name, args, digest, after, instant },
  };
}

export function journalAnswer(run: string, part: number, { at, number, answered }: AnswerEntry): JournalOperation {
  const entry: JsonObject = { number, answered: answered as unknown as JsonObject };
  return { op: "journal", run: partOf(run, part), key: answerKey(at), entry };
}

/** Under which key an answer is kept. */
export function answerKey(at: number): string {
  return `answer ${at}`;
}

/** The journal of a run that has just been started. */
export const NO_JOURNAL: Journal = { asks: new Map(), answers: [] };

/** Whether something that is written tells a program what came of what it has asked for. */
export function isAnswer(operation: Operation): boolean {
  return operation.op === "commit" || (operation.op === "journal" && operation.key.startsWith("answer "));
}

/** Reads a part of the journal, which begins when the program has got so many answers. */
export function readJournal(store: Store, run: string, part: number, delivered: number): Promise<Journal> {
  return readParts(store, run, { from: part, to: part, delivered });
}

/** Reads the journal from the beginning of the run, through all its parts. */
export function readWholeJournal(store: Store, run: string, lastPart: number): Promise<Journal> {
  return readParts(store, run, { from: 0, to: lastPart, delivered: 0 });
}

async function* entriesOf(store: Store, run: string, from: number, to: number) {
  for (let part = from; part <= to; part++) yield* store.journal(partOf(run, part));
}

async function readParts(
  store: Store,
  run: string,
  { from, to, delivered }: { readonly from: number; readonly to: number; readonly delivered: number },
): Promise<Journal> {
  const asks = new Map<number, AskEntry>();
  const answers: AnswerEntry[] = [];
  for await (const { key, entry } of entriesOf(store, run, from, to)) {
    const [word, first, second] = key.split(" ");
    const number = Number(first);
    if (word === "answer") {
      const { number: of, answered } = entry as unknown as Omit<AnswerEntry, "at">;
      if (number === delivered + answers.length) answers.push({ at: number, number: of, answered });
    } else if (word === "ask") {
      const before = asks.get(number)?.epochs ?? [];
      asks.set(number, { ...(entry as unknown as AskEntry), number, epochs: [...before, Number(second)] });
    }
  }
  // What was asked for after an answer that never got written is asked for anew.
  for (const [number, { after }] of asks) if (after > delivered + answers.length) asks.delete(number);
  return { asks, answers };
}

/** What was asked for and has no answer. */
export function unanswered({ asks, answers }: Journal): readonly AskEntry[] {
  const answered = new Set(answers.map(({ number }) => number));
  return [...asks.values()].filter(({ number }) => !answered.has(number));
}
