import type { Clock } from "../../ports/clock.js";
import { AnswerFolder } from "./answer-folder.js";
import type { KeptAnswer } from "./kept-answer.js";
import type { CacheSettings } from "./options.js";

/** What an answer takes beside its body and its headers: its name, and its place in the list. */
const AROUND_BYTES = 256;

/**
 * Answers that are given again to whoever asks the very same. They are kept in memory, up to a limit of bytes; the one that was not
 * asked for longest goes first. What has to outlive the process stands in a folder too. It is not kept in the store: that one is
 * for amounts, which must survive and are written in one piece with each other, and an answer is large and may be lost.
 */
export class AnswerCache {
  private readonly settings: CacheSettings;
  private readonly clock: Clock;
  private readonly folder: AnswerFolder | null;
  /** The one that was not asked for longest is the first. */
  private readonly kept = new Map<string, KeptAnswer>();
  private held_bytes = 0;

  constructor(settings: CacheSettings, clock: Clock) {
    this.settings = settings;
    this.clock = clock;
    this.folder = settings.folder === null ? null : new AnswerFolder(settings.folder, settings.folder_bytes);
  }

  /** How many bytes it takes now. */
  get bytes(): number {
    return this.held_bytes;
  }

  async find(key: string): Promise<KeptAnswer | null> {
    const known = this.kept.get(key) ?? null;
    if (known !== null) {
      this.drop(key);
      if (!this.isFresh(known)) return null;
      this.hold(key, known);
      return known;
    }
    const found = (await this.folder?.read(key)) ?? null;
    if (found === null || !this.isFresh(found)) return null;
    this.hold(key, found);
    return found;
  }

  keep(key: string, kept: Omit<KeptAnswer, "instant">): void {
    const stamped = { ...kept, instant: this.clock.now().instant };
    this.hold(key, stamped);
    this.folder?.write(key, stamped);
  }

  /** Waits until everything is written that is to be. */
  async settled(): Promise<void> {
    await this.folder?.settled();
  }

  private hold(key: string, kept: KeptAnswer): void {
    this.drop(key);
    const size = sizeOf(kept);
    if (size > this.settings.bytes) return;
    this.kept.set(key, kept);
    this.held_bytes += size;
    for (const oldest of this.kept.keys()) {
      if (this.held_bytes <= this.settings.bytes) return;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const known = this.kept.get(key);
    if (known === undefined) return;
    this.kept.delete(key);
    this.held_bytes -= sizeOf(known);
  }

  /** A clock that was set back says nothing about how old an answer is. */
  private isFresh({ instant }: KeptAnswer): boolean {
    const age = this.clock.now().instant - instant;
    return age >= 0 && age < this.settings.ttl_ms;
  }
}

function sizeOf({ answer }: KeptAnswer): number {
  return answer.body.length + JSON.stringify(answer.headers).length + AROUND_BYTES;
}
