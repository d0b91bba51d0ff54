import type { Expression, FunctionExpression, Round } from "../expression.js";
import type { Builtin } from "../library/builtin.js";
import type { Position } from "../plan-error.js";
import { elementOf, LISTS, lookUp, MAPS } from "./collections.js";
import { EFFECTS } from "./effects.js";
import { type Foreseen, NOTHING, type Sums } from "./foreseen.js";
import { HANDED } from "./handed.js";
import { KINDS, NUMBERS } from "./numbers.js";
import { Again, FAILS, type Outcome, outcomeOf } from "./outcome.js";
import type { Place } from "./place.js";
import type { Pure } from "./pure.js";
import type { Questions } from "./questions.js";
import { Scene } from "./scene.js";
import { TEXTS } from "./texts.js";
import { goThrough } from "./turns.js";
import { Unforeseeable } from "./unforeseeable.js";
import {
  ANYTHING,
  Closure,
  type Entries,
  entriesOf,
  joined,
  listOf,
  Native,
  type Spend,
  truthOf,
  Unknown,
  unknownFrom,
  type Value,
} from "./value.js";

export type ExpressionOf<Kind extends Expression["kind"]> = Extract<Expression, { readonly kind: Kind }>;

/** What was gone through: the outcomes one by one where the list is known, else how many there are at most. */
export interface Gone {
  readonly values: readonly Value[] | null;
  readonly most: number | null;
  /** What the outcomes have in common: one that stands for all, or all of them. */
  readonly some: Value;
  readonly fails: boolean;
}

/** What is done for an element; the number of one that stands for all is not known. */
export type Turning = (item: Value, index: Value) => Outcome;

/** How a list is gone through. */
interface Manner {
  /** A failure of one does not hold up the others. */
  readonly goesOn?: boolean;
  /** Whether it surely ends with this outcome. */
  readonly until?: (value: Value) => boolean;
}

/** So much is looked at in one plan. More would take longer than anybody waits for an estimate. */
const MOST_WORK = 60_000;
/** What only computes costs nothing, so that it is not worth much looking. */
const MOST_COMPUTING = 5000;
const DEEPEST = 60;
const MOST_NESTED = 600;
/** A longer list is gone through once, with an element that nobody knows, and counted. */
const MOST_TURNS = 200;
const MOST_ROUNDS = 500;
/** So often a loop may go on that need not. */
const MOST_MAYBE = 50;

const PURE: Readonly<Record<string, Pure>> = { ...NUMBERS, ...KINDS, ...TEXTS, ...LISTS, ...MAPS };

/** Looks through a plan with what is known of its input: what it would do, without doing it. */
export class Walk {
  readonly sums: Sums;
  readonly questions: Questions;
  place: Place;
  private total: Foreseen = NOTHING;
  private work = 0;
  private most = MOST_WORK;
  private depth = 0;
  private nested = 0;
  private computing = false;

  constructor(sums: Sums, questions: Questions, place: Place) {
    this.sums = sums;
    this.questions = questions;
    this.place = place;
  }

  readonly spend: Spend = (work) => {
    this.work += work;
    if (this.work > this.most) throw new Unforeseeable("there is too much to look through");
  };

  add(foreseen: Foreseen): void {
    this.total = this.sums.plus(this.total, foreseen);
  }

  /** Looks at something without adding it up. */
  apart<Result>(look: () => Result): { readonly result: Result; readonly foreseen: Foreseen } {
    const before = this.total;
    this.total = NOTHING;
    try {
      const result = look();
      return { result, foreseen: this.total };
    } finally {
      this.total = before;
    }
  }

  /** One of several things happens, and nobody knows which. Whatever surely fails is not what happens as a rule. */
  either(branches: readonly { readonly look: () => Outcome; readonly weight: number }[]): Outcome {
    const looked = branches.map(({ look, weight }) => ({ ...this.apart(look), weight }));
    const isUsual = looked.some(({ result }) => result !== FAILS);
    this.add(
      this.sums.either(
        looked.map(({ result, foreseen, weight }) => ({
          foreseen,
          weight: isUsual && result === FAILS ? 0 : weight,
        })),
      ),
    );
    return outcomeOf(
      looked.map(({ result }) => result),
      this.spend,
    );
  }

  evaluate(expression: Expression, scene: Scene): Outcome {
    this.spend(1);
    if (this.nested >= MOST_NESTED) throw new Unforeseeable("it is nested too deeply");
    this.nested++;
    try {
      return this.look(expression, scene);
    } finally {
      this.nested--;
    }
  }

  /** Several values one after the other. */
  values(items: readonly Expression[], scene: Scene): readonly Value[] | typeof FAILS {
    const values: Value[] = [];
    for (const item of items) {
      const value = this.value(item, scene);
      if (value === FAILS) return FAILS;
      values.push(value);
    }
    return values;
  }

  /** An expression whose value is needed for something else, so that nothing goes back to a loop from it. */
  value(expression: Expression, scene: Scene): Value | typeof FAILS {
    return this.evaluate(expression, scene) as Value | typeof FAILS;
  }

  private look(expression: Expression, scene: Scene): Outcome {
    switch (expression.kind) {
      case "literal":
        return expression.value;
      case "local":
        return scene.find(expression.binding);
      case "builtin":
        return new Native(expression.builtin);
      case "function":
        return this.closure(expression, scene);
      case "vector":
      case "set":
        return this.values(expression.items, scene);
      case "map":
        return this.entries(expression, scene);
      case "choice":
        return this.choice(expression, 0, scene);
      case "all":
      case "any":
        return this.firstOf(expression, 0, scene);
      case "block":
        return this.block(expression, scene);
      case "use":
        return this.given(expression.items, scene, (args) => this.use(expression.builtin, args, expression));
      case "apply":
        return this.given([expression.callee, ...expression.items], scene, ([callee = null, ...args]) =>
          this.call(callee, args, expression),
        );
      case "again":
        return this.given(expression.items, scene, (items) => new Again(items));
      case "loop":
        return this.given(expression.first, scene, (first) =>
          this.rounds(expression.round, first, expression.body, scene, expression),
        );
      case "for":
        return goThrough(this, expression, scene);
      default:
        return EFFECTS[expression.kind](this, expression as never, scene);
    }
  }

  private given(items: readonly Expression[], scene: Scene, then: (values: readonly Value[]) => Outcome): Outcome {
    const values = this.values(items, scene);
    return values === FAILS ? FAILS : then(values as readonly Value[]);
  }

  private closure(code: FunctionExpression, scene: Scene): Closure {
    if (code.self === null) return new Closure(code, scene);
    const around = new Scene(scene);
    const made = new Closure(code, around);
    around.bind(code.self, made);
    return made;
  }

  private entries({ entries }: ExpressionOf<"map">, scene: Scene): Entries | Unknown | typeof FAILS {
    const pairs: (readonly [string, Value])[] = [];
    const all: Value[] = [];
    for (const [key, value] of entries) {
      const pair = this.values([key, value], scene);
      if (pair === FAILS) return FAILS;
      const [name = null, held = null] = pair as readonly Value[];
      all.push(name, held);
      if (typeof name === "string") pairs.push([name, held]);
    }
    return pairs.length === entries.length ? entriesOf(pairs) : unknownFrom(all, this.spend);
  }

  private choice(expression: ExpressionOf<"choice">, from: number, scene: Scene): Outcome {
    const clause = expression.clauses[from];
    if (clause === undefined) return this.evaluate(expression.otherwise, scene);
    const test = this.value(clause.test, scene);
    if (test === FAILS) return FAILS;
    const otherwise = () => this.choice(expression, from + 1, scene);
    const then = () => this.evaluate(clause.value, scene);
    const truth = truthOf(test);
    if (truth !== null) return truth ? then() : otherwise();
    return this.either([
      { look: then, weight: 1 },
      { look: otherwise, weight: expression.clauses.length - from },
    ]);
  }

  private firstOf(expression: ExpressionOf<"all" | "any">, from: number, scene: Scene): Outcome {
    const item = expression.items[from] as Expression;
    const value = this.evaluate(item, scene);
    if (from === expression.items.length - 1 || value === FAILS) return value;
    const truth = truthOf(value as Value);
    const next = () => this.firstOf(expression, from + 1, scene);
    if (truth !== null) return truth === (expression.kind === "all") ? next() : value;
    return this.either([
      { look: () => value, weight: 1 },
      { look: next, weight: 1 },
    ]);
  }

  private block({ statements, value }: ExpressionOf<"block">, scene: Scene): Outcome {
    const inner = new Scene(scene);
    for (const statement of statements) {
      const found = this.value(statement.value, inner);
      if (found === FAILS) return FAILS;
      if (statement.binding !== null) inner.bind(statement.binding, found);
    }
    return this.evaluate(value, inner);
  }

  /** Uses a function of the library. */
  use(builtin: Builtin, args: readonly Value[], at: Position): Outcome {
    const handed = HANDED[builtin.id];
    if (handed !== undefined) return handed(this, args, at);
    if (builtin.id === "throwing") return FAILS;
    if (builtin.id === "required") return this.required(args);
    const value = PURE[builtin.id]?.(args, this.spend);
    return value === undefined ? unknownFrom(args, this.spend) : value;
  }

  private required([input = null, key = null]: readonly Value[]): Outcome {
    if (input instanceof Unknown) return elementOf(input);
    const value = lookUp(input, key, FAILS as never);
    return value === undefined ? ANYTHING : value;
  }

  /** Calls whatever a plan can call: its own functions, those of the library, and keys. */
  call(callee: Value, args: readonly Value[], at: Position): Outcome {
    if (callee instanceof Native) return this.use(callee.builtin, args, at);
    if (callee instanceof Closure) return this.enter(callee, args, at);
    if (callee instanceof Unknown && !callee.isData) {
      throw new Unforeseeable(`which function is called at ${at.line}:${at.column} is not known`);
    }
    if (typeof callee !== "string" && !(callee instanceof Unknown)) return FAILS;
    const [from = null, otherwise = null] = args;
    const value = lookUp(from, callee, otherwise);
    return value === undefined ? unknownFrom(args, this.spend) : value;
  }

  private enter({ code, scene }: Closure, args: readonly Value[], at: Position): Outcome {
    if (this.depth >= DEEPEST) {
      throw new Unforeseeable(`how deep the functions at ${at.line}:${at.column} call each other is not known`);
    }
    const { parameters, rest } = code;
    const items = parameters.map((_, index) => args[index] ?? null);
    const all = rest === null ? items : [...items, args.slice(parameters.length)];
    const enter = () => this.rounds(code.round, all, code.body, scene, code);
    this.depth++;
    try {
      return code.waits ? enter() : this.computed(enter);
    } finally {
      this.depth--;
    }
  }

  /** What waits for nobody takes nothing, so that only its value may be unknown. */
  private computed(compute: () => Outcome): Outcome {
    if (this.computing) return compute();
    const { most } = this;
    this.computing = true;
    this.most = Math.min(most, this.work + MOST_COMPUTING);
    try {
      return compute();
    } catch (error) {
      if (error instanceof Unforeseeable) return ANYTHING;
      throw error;
    } finally {
      this.most = most;
      this.computing = false;
    }
  }

  /** A loop, or a function that goes back to its beginning: round after round, as long as it is known that it goes on. */
  private rounds(round: Round, first: readonly Value[], body: Expression, scene: Scene, at: Position): Outcome {
    let items = first;
    let chance = 1;
    const ends: Value[] = [];
    for (let turn = 0, maybe = 0; turn < MOST_ROUNDS && maybe <= MOST_MAYBE; turn++) {
      const { result, foreseen } = this.apart(() => this.once(round, items, body, scene));
      this.add(this.sums.times(foreseen, chance, 1));
      if (!(result instanceof Again)) return result === FAILS && ends.length === 0 ? FAILS : this.ended(ends, result);
      if (result.ends.length > 0) {
        if (isStuck(items, result.items)) break;
        maybe++;
        chance /= 2;
        ends.push(...result.ends);
      }
      items = result.items;
    }
    const unknown = round.bindings.map(() => ANYTHING);
    const { foreseen } = this.apart(() => this.once(round, unknown, body, scene));
    this.add(this.sums.endless(foreseen, `the loop at ${at.line}:${at.column} has no known length`));
    return ANYTHING;
  }

  private ended(ends: readonly Value[], last: Outcome): Outcome {
    const all = last === FAILS ? ends : [...ends, last as Value];
    return joined(all, this.spend);
  }

  private once(round: Round, items: readonly Value[], body: Expression, scene: Scene): Outcome {
    const inner = new Scene(scene);
    for (const [index, binding] of round.bindings.entries()) inner.bind(binding, items[index] ?? null);
    return this.evaluate(body, inner);
  }

  /** Does something for each element of a list. */
  each(list: Value, at: Position, body: Turning, { goesOn = false, until = () => false }: Manner = {}): Gone {
    const items = list instanceof Unknown ? null : listOf(list);
    // Loops inside of loops are long even where each of them is short.
    const isTired = this.work > this.most / 2;
    if (items !== null && items.length <= (isTired ? 1 : MOST_TURNS))
      return this.oneByOne(items, body, { goesOn, until });
    const most = list instanceof Unknown ? list.most : (items?.length ?? 0);
    const item = list instanceof Unknown ? elementOf(list) : unknownFrom([list], this.spend);
    const { result, foreseen } = this.apart(() => body(item, new Unknown(true)));
    const why = `what is gone through at ${at.line}:${at.column} has no known length`;
    this.add(most === null ? this.sums.endless(foreseen, why) : this.sums.times(foreseen, most));
    const some = result === FAILS ? null : (result as Value);
    return { values: null, most, some, fails: false };
  }

  private oneByOne(items: readonly Value[], body: Turning, { goesOn, until }: Required<Manner>): Gone {
    const values: Value[] = [];
    let fails = false;
    for (const [index, item] of items.entries()) {
      const outcome = body(item, index);
      if (outcome === FAILS) fails = true;
      if (fails && !goesOn) break;
      const value = outcome === FAILS ? null : (outcome as Value);
      values.push(value);
      if (until(value)) break;
    }
    return { values, most: values.length, some: values, fails };
  }
}

/** Whether nothing has come any nearer to an end that is not known. */
function isStuck(before: readonly Value[], after: readonly Value[]): boolean {
  return after.every((value, index) => value === before[index] || value instanceof Unknown);
}
