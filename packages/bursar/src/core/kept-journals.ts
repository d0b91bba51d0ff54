import type { Json } from "./chain/canonical.js";
import type { Entry } from "./document.js";

/** The entries of one run by their keys, in the order in which they were written. */
interface KeptJournal {
  readonly entries: Map<string, Entry>;
  characters: number;
}

/** What is left when journals are dropped, so that it is seldom done. */
const LEFT_SHARE = 0.75;

/** The journals of runs. Beyond so many characters those of ended runs are dropped, the oldest first. */
export class KeptJournals {
  private readonly most: number;
  private readonly hasEnded: (run: string) => boolean;
  private readonly journals = new Map<string, KeptJournal>();
  private characters = 0;
  /** So many characters are waited for until it is looked again what may be dropped. */
  private next: number;

  constructor(most: number, hasEnded: (run: string) => boolean) {
    this.most = most;
    this.next = most;
    this.hasEnded = hasEnded;
  }

  entry(run: string, key: string): Entry | undefined {
    return this.journals.get(run)?.entries.get(key);
  }

  of(run: string): readonly Entry[] {
    return [...(this.journals.get(run)?.entries.values() ?? [])];
  }

  add(entry: Entry): void {
    const { run, key } = entry;
    let journal = this.journals.get(run);
    if (journal === undefined) {
      journal = { entries: new Map(), characters: 0 };
      this.journals.set(run, journal);
    }
    const length = key.length + lengthOf(entry.entry);
    journal.entries.set(key, entry);
    journal.characters += length;
    this.characters += length;
    if (this.characters > this.next) this.shrink();
  }

  private shrink(): void {
    const left = this.most * LEFT_SHARE;
    for (const [run, { characters }] of this.journals) {
      if (this.characters <= left) break;
      if (!this.hasEnded(run)) continue;
      this.journals.delete(run);
      this.characters -= characters;
    }
    // Those of runs that go on stay. While they are many, it is not looked each time.
    this.next = Math.max(this.most, this.characters * (2 - LEFT_SHARE));
  }
}

/** About how many characters a value has as a text. */
function lengthOf(value: Json): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let length = 2;
  if (Array.isArray(value)) for (const item of value) length += lengthOf(item) + 1;
  else
    for (const key in value)
      length += key.length + 4 + lengthOf((value as Readonly<Record<string, Json>>)[key] as Json);
  return length;
}
