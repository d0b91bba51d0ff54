import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import type { Clock } from "../ports/clock.js";
import type { Timer } from "../ports/timer.js";
import { systemTimer } from "../runtime/system-clock.js";
import type { CallRecord } from "./call-record.js";
import type { Provider } from "./provider.js";

export interface AdapterOptions {
  /** What deadlines are compared with. The budget's own clock by default. */
  readonly clock?: Clock;
  /** What wakes up when a deadline passes. The machine's timers by default. */
  readonly timer?: Timer;
  /** Is told of every provider and tool call before it is made. When it throws, the call is not made. */
  readonly onCall?: (record: CallRecord) => void;
  /** How many requests one evaluation may make, 50 by default: a model that calls tools for ever is stopped. */
  readonly maxRounds?: number;
  /** How deep subagents may delegate further, 16 by default. */
  readonly maxDepth?: number;
}

/** The options with their defaults. */
export interface Settings {
  readonly provider: Provider;
  readonly clock: Clock | null;
  readonly timer: Timer;
  readonly onCall: (record: CallRecord) => void;
  readonly maxRounds: number;
  readonly maxDepth: number;
}

export function readSettings(provider: Provider, options: AdapterOptions): Settings {
  if (typeof provider?.complete !== "function") {
    throw new InputError("provider", `is ${show(provider)}; allowed: an object with a method complete`);
  }
  checkKeys(options, "options", ["clock", "timer", "onCall", "maxRounds", "maxDepth"]);
  return {
    provider,
    clock: options.clock ?? null,
    timer: options.timer ?? systemTimer,
    onCall: options.onCall ?? (() => {}),
    maxRounds: count(options.maxRounds ?? 50, 1, "maxRounds"),
    maxDepth: count(options.maxDepth ?? 16, 0, "maxDepth"),
  };
}

function count(value: unknown, least: number, field: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw new InputError(field, `is ${show(value)}; allowed: a whole number from ${least} on`);
}
