/** So many faults are remembered, in order not to be told again with every round. */
const MOST_REMEMBERED = 10_000;

/** The faults of a worker that were told: it meets the same one with every round. */
export class ToldFaults {
  private readonly told = new Set<string>();

  /** What there is to tell of a fault, and of which run; null where it was told before. */
  line(error: unknown, run: string | null): string | null {
    const message = error instanceof Error ? error.message : String(error);
    const text = run === null ? message : `run ${run}: ${message}`;
    if (this.told.has(text)) return null;
    if (this.told.size >= MOST_REMEMBERED) this.told.clear();
    this.told.add(text);
    return text;
  }
}
