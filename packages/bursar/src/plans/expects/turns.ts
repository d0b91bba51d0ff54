import { LISTS } from "./collections.js";
import { FAILS, type Outcome } from "./outcome.js";
import { Scene } from "./scene.js";
import { isData, truthOf, Unknown, type Value } from "./value.js";
import type { ExpressionOf, Gone, Walk } from "./walk.js";

/** `for` and `doseq`: what the turns give, one behind the other. */
export function goThrough(walk: Walk, expression: ExpressionOf<"for">, scene: Scene): Outcome {
  const list = from(walk, expression, 0, scene);
  return list === FAILS || expression.collects ? list : null;
}

function from(walk: Walk, expression: ExpressionOf<"for">, index: number, scene: Scene): Value | typeof FAILS {
  const turn = expression.turns[index];
  if (turn === undefined) {
    const value = walk.value(expression.body, scene);
    if (value === FAILS) return FAILS;
    return expression.collects ? [value] : [];
  }
  const next = (inner: Scene) => from(walk, expression, index + 1, inner);
  if (turn.kind === "bind") {
    const { binding } = turn.statement;
    const value = walk.value(turn.statement.value, scene);
    if (value === FAILS) return FAILS;
    if (binding !== null) scene.bind(binding, value);
    return next(scene);
  }
  if (turn.kind === "when") {
    const test = walk.value(turn.test, scene);
    if (test === FAILS) return FAILS;
    return perhaps(walk, truthOf(test), () => next(scene));
  }
  const list = walk.value(turn.list, scene);
  if (list === FAILS) return FAILS;
  const gone = walk.each(list, turn, (item) => {
    const inner = new Scene(scene);
    inner.bind(turn.binding, item);
    return next(inner);
  });
  return gone.fails ? FAILS : flattened(walk, gone);
}

/** What a condition lets through: all of it, nothing, or nobody knows. */
function perhaps(walk: Walk, truth: boolean | null, next: () => Value | typeof FAILS): Value | typeof FAILS {
  if (truth === false) return [];
  if (truth === true) return next();
  let all: Value | typeof FAILS = [];
  const look = () => {
    all = next();
    return null;
  };
  walk.either([
    { look, weight: 1 },
    { look: () => null, weight: 1 },
  ]);
  const list = all as Value | typeof FAILS;
  return list === FAILS ? [] : new Unknown(isData(list, walk.spend), lengthOf(list));
}

/** The lists that came of the turns, one behind the other. */
export function flattened(walk: Walk, { values, most, some }: Gone): Value {
  if (values !== null) return LISTS.concat?.(values, walk.spend) ?? new Unknown(isData(values, walk.spend));
  const each = lengthOf(some);
  return new Unknown(isData(some, walk.spend), most === null || each === null ? null : most * each);
}

/** How many elements a list has at most; null when nobody knows. */
function lengthOf(list: Value): number | null {
  if (list instanceof Unknown) return list.most;
  return Array.isArray(list) ? list.length : null;
}
