import { createHash } from "node:crypto";
import type { Store } from "../../ports/store.js";
import { figureOf, Outputs, REMEMBERED } from "./outputs.js";

/** One place that calls come from, to one model, with how long their answers were. */
export class Site {
  /** The same in every process that meets it. */
  readonly id: string;
  readonly model: string;
  /** When it was last heard of, in whatever those who remember it count. */
  heard = 0;
  /** Where what is new is to be written; null when nothing is. */
  store: Store | null = null;
  private readonly learn: (site: Site) => void;
  private outputs = new Outputs();
  private unwritten: number[] = [];

  /** `learn` is told of each answer. */
  constructor(key: string, model: string, learn: (site: Site) => void) {
    this.id = createHash("sha256").update(key).digest("hex").slice(0, 32);
    this.model = model;
    this.learn = learn;
  }

  /** What 99 of 100 answers do not pass, in tokens; null as long as that is not known. */
  get upper(): number | null {
    return this.outputs.upper;
  }

  /** An answer has come to a call that was paid for from a store; `cut` when a limit has ended it. */
  add(tokens: number, cut: boolean, store: Store): void {
    this.store = store;
    this.outputs.add(tokens, cut);
    this.unwritten.push(figureOf(tokens, cut));
    if (this.unwritten.length > REMEMBERED) this.unwritten.shift();
    this.learn(this);
  }

  /** What nobody has written down yet, the oldest first. */
  get fresh(): readonly number[] {
    return this.unwritten;
  }

  /** What is written down, with so many of the fresh ones among them. Others may have come since. */
  written(figures: readonly number[], fresh: number): void {
    this.unwritten = this.unwritten.slice(fresh);
    this.outputs = new Outputs([...figures, ...this.unwritten]);
  }
}
