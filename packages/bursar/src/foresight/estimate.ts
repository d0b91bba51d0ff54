import type { Opinion, Prediction } from "../ports/foresight.js";

/** Who says what a run will take: the program itself, its own past, or a model that was asked. */
export type Source = "program" | "history" | "model";

/** What one source said. */
export interface SourcedOpinion extends Opinion {
  readonly source: Source;
  /** How many past runs it rests on; 0 where it rests on none. */
  readonly samples: number;
  /** The most that such runs have held for one call that did not take it, in ledger units: there has to be room for it. */
  readonly spare?: Readonly<Record<string, number>>;
  /** What half of so few past runs have taken at the least, in ledger units: all that they are sure of. Absent where there are enough. */
  readonly least?: Readonly<Record<string, number>>;
}

/** What is expected of one dimension, and whose word that is. */
export interface Expected extends Prediction {
  readonly source: Source;
}

/** What a run is expected to take, before its first token is spent. In ledger units. */
export interface Estimate {
  readonly dimensions: Readonly<Record<string, Expected>>;
  readonly opinions: readonly SourcedOpinion[];
  readonly made: number;
}
