import type { Clock } from "../../ports/clock.js";
import { systemClock } from "../../runtime/system-clock.js";
import { type AnswerClaims, joinedClaims, NO_CLAIMS } from "../wire/answer-claims.js";
import { type Extra, largerExtra } from "./extra.js";

/** What is remembered of answers that cost more than they were priced at. */
export interface DearerAnswer {
  /** The models and tiers that they named. */
  readonly claims: AnswerClaims;
  /** How much higher a cost that they stated was than all that follows from the claims. */
  readonly extra: Extra;
}

/** A host and a model that was asked there. */
export interface AskedPair {
  readonly url: string | null;
  readonly model: string;
}

interface Kept extends DearerAnswer {
  readonly at: number;
}

const DAY_MS = 24 * 60 * 60_000;
/** Names of models come from callers, so that not endless ones are kept; the oldest go first. */
const MOST_PAIRS = 1000;

/**
 * Remembers which hosts have answered for which model with something dearer, so that the next call reserves as much. It holds for all
 * budgets of a process, for a day after the last such answer.
 */
export class DearerAnswers {
  private readonly clock: Clock;
  private readonly kept = new Map<string, Kept>();

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  note(pair: AskedPair, claims: AnswerClaims, extra: Extra): void {
    const key = keyOf(pair);
    const before = this.find(pair);
    this.kept.delete(key);
    if (this.kept.size >= MOST_PAIRS) this.kept.delete(this.kept.keys().next().value ?? key);
    const { models, served } = joinedClaims(before?.claims ?? NO_CLAIMS, claims);
    const most = before === null ? extra : largerExtra(before.extra, extra);
    this.kept.set(key, { claims: { ...NO_CLAIMS, models, served }, extra: most, at: this.now });
  }

  /** Null where nothing dearer was answered within the last day. */
  find(pair: AskedPair): DearerAnswer | null {
    // Mostly there is nothing to look for.
    if (this.kept.size === 0) return null;
    const key = keyOf(pair);
    const found = this.kept.get(key) ?? null;
    if (found === null || this.now - found.at < DAY_MS) return found;
    this.kept.delete(key);
    return null;
  }

  private get now(): number {
    return this.clock.now().monotonic;
  }
}

/** Those of this process. */
export const dearerAnswers: DearerAnswers = new DearerAnswers();

/** Neither a host nor a name that is short enough to have a price holds a line break. */
function keyOf({ url, model }: AskedPair): string {
  const host = url !== null && URL.canParse(url) ? new URL(url).host : "";
  return `${host}\n${model}`;
}
