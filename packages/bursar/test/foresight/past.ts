import type { Amount } from "../../src/core/amount.js";
import { putHistory } from "../../src/foresight/history.js";
import { Pasts } from "../../src/foresight/pasts.js";
import type { Program } from "../../src/ports/program.js";
import type { Store } from "../../src/ports/store.js";
import { type Estimated, estimateOf, type Sources } from "../../src/runs/estimating.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

/** A program that is never executed here: what it took is written down as if it had been. */
export function programNamed(name: string, version = "1", more: Partial<Program> = {}): Program {
  const play = () => ({ result: Promise.resolve(null) });
  return { kind: "agent", name, digest: `${name} ${version}`, source: null, play, ...more };
}

/** An input of about so many bytes. */
function inputOf(bytes: number): string {
  return "x".repeat(Math.max(0, bytes - 2));
}

export interface Taken {
  readonly bytes?: number;
  readonly used: Readonly<Record<string, number>>;
  readonly cut?: boolean;
  readonly estimate?: Readonly<Record<string, { readonly median: number; readonly upper: number }>>;
}

/** The past of programs in a store, and what is expected of the next run. */
export class Past {
  private readonly store: Store;
  private readonly more: Partial<Sources>;
  private readonly name: string;
  private readonly pasts: Pasts;
  private count = 0;

  constructor(store: Store, more: Partial<Sources> = {}, name = "run") {
    this.store = store;
    this.more = more;
    this.name = name;
    this.pasts = new Pasts(store);
  }

  async add(program: Program, ...runs: readonly Taken[]): Promise<void> {
    const { name, digest } = program;
    const operations = runs.map(({ bytes = 100, used, cut = false, estimate = null }) => {
      const run = `${this.name}-${++this.count}`;
      const amounts = used as Readonly<Record<string, Amount>>;
      return putHistory(
        { run, program: name, input_bytes: bytes, used: amounts, cut, digest, ended: this.count, estimate },
        0,
      );
    });
    await this.store.apply(operations);
  }

  estimate(program: Program, bytes = 100): Promise<Estimated> {
    const { store, pasts, more } = this;
    const nobody = { tools: new Map(), model: null, program: () => null, predictor: null };
    const sources: Sources = { store, pasts, timer: new FakeClock(), ...nobody, ...more };
    return estimateOf(sources, program, inputOf(bytes));
  }
}
