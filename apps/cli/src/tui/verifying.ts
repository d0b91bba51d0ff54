import { BursarError, parseLine, type Store, sha256Hex, verifyChain } from "bursar";
import type { Mark } from "./sight.js";

/**
 * Verifies a chain as it grows, each link once: a screen that looks twice a second must not begin anew each time. It asks for
 * the next line only when the one before is good, which is how it is known how far the chain was verified.
 */
export class Verifying {
  readonly chain: string;
  mark: Mark = { kind: "verifying", links: 0 };
  private readonly store: Pick<Store, "chain" | "head">;
  private stopped = false;
  private grown: (() => void) | null = null;

  constructor(store: Pick<Store, "chain" | "head">, chain: string) {
    this.store = store;
    this.chain = chain;
    void this.verify();
  }

  /** Goes on with what has been added since. */
  goOn(): void {
    this.grown?.();
  }

  stop(): void {
    this.stopped = true;
    this.goOn();
  }

  private async verify(): Promise<void> {
    try {
      const verification = await verifyChain(this.lines(), { hash: sha256Hex });
      if (!verification.ok && !this.stopped) this.mark = { kind: "broken", message: verification.message };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (!this.stopped) this.mark = { kind: isArchived(error) ? "elsewhere" : "broken", message };
    }
  }

  private async *lines(): AsyncGenerator<string> {
    let next = 0;
    while (!this.stopped) {
      // Read first: what is added while the lines are read is beyond it.
      const head = await this.store.head(this.chain);
      for await (const line of this.store.chain(this.chain, next)) {
        yield line;
        if (this.stopped) return;
        if (next === head?.seq && parseLine(line).hash !== head.hash) return this.fault("its end is another one");
        next++;
        if (this.mark.kind === "verifying") this.mark = { kind: "verifying", links: next };
      }
      const missing = (head?.seq ?? -1) + 1 - next;
      if (missing > 0) return this.fault(`the last ${missing} of its links are missing`);
      this.mark = { kind: "verified", links: next };
      await new Promise<void>((resolve) => {
        this.grown = resolve;
      });
    }
  }

  private fault(message: string): void {
    this.mark = { kind: "broken", message };
  }
}

/** Whether a chain cannot be read because its lines are in a file by now. */
export function isArchived(error: unknown): boolean {
  return error instanceof BursarError && error.code === "store_archived";
}
