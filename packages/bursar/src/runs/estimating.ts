import { canonicalize, type Json } from "../core/chain/canonical.js";
import { combine, sourced } from "../foresight/combine.js";
import type { Estimate, SourcedOpinion } from "../foresight/estimate.js";
import { fromHistory, isDecisive } from "../foresight/from-history.js";
import type { Pasts } from "../foresight/pasts.js";
import type { Sample } from "../foresight/sample.js";
import type { Known, Opinion, Predictor } from "../ports/foresight.js";
import type { Model } from "../ports/model.js";
import type { Program } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { knownOf } from "./known.js";
import type { Tool } from "./tool.js";

/** Where an estimate comes from. */
export interface Sources {
  readonly store: Store;
  readonly pasts: Pasts;
  readonly timer: Timer;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly model: Model | null;
  /** Null when there is no such program. */
  readonly program: (name: string) => Program | null;
  readonly predictor: Predictor | null;
}

/** What came of it. */
export interface Estimated {
  readonly estimate: Estimate | null;
  /** What went wrong, for people. */
  readonly notes: readonly string[];
  /** Why the past could not be read; null when it could. */
  readonly unread: unknown;
}

/** Nobody waits longer than this for an opinion. */
const WAIT_MS = 30_000;
/** Programs may start each other in circles. */
const DEEPEST = 4;
const LONGEST_NOTE = 500;

/** The size of an input, as the past knows it. */
export function sizeOf(input: Json): number {
  return Buffer.byteLength(canonicalize(input));
}

/** Asks everybody who may know what a run of a program will take. Nobody's failure is a failure of the whole. */
export async function estimateOf(sources: Sources, program: Program, input: Json): Promise<Estimated> {
  const estimating = new Estimating(sources);
  const opinions = await estimating.opinionsOn(program, input, 0);
  const heard = [...opinions];
  const { store, predictor } = sources;
  if (predictor !== null && !opinions.some(isDecisive)) {
    const predicted = await estimating.predicted(predictor, program, input, opinions);
    if (predicted !== null) heard.push(predicted);
  }
  const { notes, unread } = estimating;
  return { estimate: combine(heard, store.dimensions, store.clock.now().instant), notes, unread };
}

class Estimating {
  readonly notes: string[] = [];
  unread: unknown = null;
  private readonly sources: Sources;
  /** Looked up once, however often a program is started below. */
  private readonly pasts = new Map<string, Promise<readonly Sample[]>>();

  constructor(sources: Sources) {
    this.sources = sources;
  }

  /** What a program's past and the program itself say. */
  async opinionsOn(program: Program, input: Json, depth: number): Promise<readonly SourcedOpinion[]> {
    const past = fromHistory(await this.past(program.name), program.digest, sizeOf(input));
    const expects = program.expects?.bind(program);
    const said =
      expects === undefined
        ? null
        : await this.heard("program", `the program ${program.name}`, () => expects(input, this.known(program, depth)));
    return [past, said].filter((each) => each !== null);
  }

  predicted(
    predictor: Predictor,
    { kind, name, source }: Program,
    input: Json,
    others: readonly Opinion[],
  ): Promise<SourcedOpinion | null> {
    const dimensions = this.sources.store.dimensions.all.map(({ id, unit }) => ({ id, unit }));
    const program = { kind, name, source: source === null ? null : canonicalize(source) };
    return this.heard("model", "the predictor", () => predictor.predict({ program, input, dimensions, others }));
  }

  private past(program: string): Promise<readonly Sample[]> {
    const known = this.pasts.get(program);
    if (known !== undefined) return known;
    const read = this.sources.pasts.of(program).catch((error: unknown) => {
      this.unread ??= error;
      this.note(`the past of ${program} could not be read`, error);
      return [];
    });
    this.pasts.set(program, read);
    return read;
  }

  private known(above: Program, depth: number): Known {
    const { tools, model, program, store } = this.sources;
    return knownOf({
      ...{ dimensions: store.dimensions, tools, model },
      program: async (name, input) => {
        const below = above.children?.find((child) => child.name === name) ?? program(name);
        if (below === null || depth >= DEEPEST) return null;
        const opinions = await this.opinionsOn(below, input, depth + 1);
        const estimate = combine(opinions, store.dimensions, 0);
        if (estimate === null) return null;
        return { dimensions: estimate.dimensions, about: opinions.map(({ about }) => about).join("; ") };
      },
    });
  }

  /** What somebody says, if he says it in time and it makes sense. */
  private async heard(
    source: "program" | "model",
    who: string,
    ask: () => Promise<Opinion | null>,
  ): Promise<SourcedOpinion | null> {
    try {
      const opinion = await this.inTime(ask());
      return opinion === null ? null : sourced(opinion, source, this.sources.store.dimensions);
    } catch (error) {
      this.note(`${who} could not say what it will take`, error);
      return null;
    }
  }

  private async inTime<Value>(work: Promise<Value>): Promise<Value> {
    let alarm: Disposable | null = null;
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`no answer within ${WAIT_MS / 1000} s`);
      alarm = this.sources.timer.after(WAIT_MS, () => reject(error));
    });
    return Promise.race([work, late]).finally(() => (alarm as Disposable | null)?.[Symbol.dispose]());
  }

  private note(what: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.notes.push(`${what}: ${why}`.slice(0, LONGEST_NOTE).replace(/[\0\p{Cs}]/gu, "\ufffd"));
  }
}
