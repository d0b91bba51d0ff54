import type { JSX } from "preact";
import { formatAmount, percentOf } from "../format/amount.js";
import { labelOf } from "../format/dimension.js";

interface BarProps {
  readonly dimension: string;
  readonly used: number;
  readonly held: number;
  readonly limit: number;
  readonly thresholds?: readonly number[];
}

/** How much of a limit is used and how much is held: two textures, and the same in words for whoever cannot see them. */
export function Bar({ dimension, used, held, limit, thresholds = [] }: BarProps): JSX.Element {
  const usedShare = share(used, limit);
  const heldShare = Math.min(share(held, limit), 100 - usedShare);
  return (
    <div
      class={`bar ${tone(used + held, limit, thresholds)}`}
      role="img"
      aria-label={inWords(dimension, used, held, limit)}
    >
      <span class="bar-used" style={{ width: `${usedShare}%` }} />
      <span class="bar-held" style={{ width: `${heldShare}%` }} />
      {thresholds.map((percent) => (
        <span key={percent} class="bar-threshold" style={{ left: `${Math.min(percent, 100)}%` }} />
      ))}
    </div>
  );
}

function share(amount: number, limit: number): number {
  if (limit <= 0) return amount > 0 ? 100 : 0;
  return Math.min(100, Math.max(0, (amount / limit) * 100));
}

function tone(taken: number, limit: number, thresholds: readonly number[]): string {
  if (taken >= limit) return "bar-exhausted";
  const last = Math.max(0, ...thresholds);
  return last > 0 && share(taken, limit) >= last ? "bar-warned" : "";
}

function inWords(dimension: string, used: number, held: number, limit: number): string {
  const amount = (value: number) => formatAmount(dimension, value);
  const holding = held > 0 ? `, ${amount(held)} held` : "";
  return `${labelOf(dimension)}: ${amount(used)} of ${amount(limit)} used (${percentOf(used, limit)} %)${holding}`;
}
