import type { Form, FormOf } from "../edn/form.js";
import { printShort } from "../edn/print.js";
import type { Context, Resolver } from "../resolver.js";
import type { Expression, Round, Statement, Turn } from "../syntax/expression.js";
import { Scope } from "../syntax/scope.js";
import { block, bodyAfter } from "./body.js";
import { bindPattern, receivePattern, refuseRepeats } from "./pattern.js";

/** `(let [name value …] …)`. */
export function letForm(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const inner = { ...context, scope: new Scope(context.scope) };
  const statements = bindAll(pairsOf(list, "let", resolver), inner, resolver);
  return block(statements, bodyAfter(list, 2, inner, resolver));
}

/** `(loop [name first …] … (recur next …))`. */
export function loop(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const pairs = pairsOf(list, "loop", resolver);
  refuseRepeats(
    pairs.map(([pattern]) => pattern),
    resolver,
  );
  const first = pairs.map(([, value]) => resolver.value(value, context));
  const inner = { ...context, scope: new Scope(context.scope), round: null };
  const received = pairs.map(([pattern]) => receivePattern(pattern, inner, resolver));
  const round: Round = { bindings: received.map(({ binding }) => binding), used: false };
  const statements = received.flatMap((each) => each.statements);
  const body = block(statements, bodyAfter(list, 2, { ...inner, round }, resolver));
  const { line, column } = list;
  return { kind: "loop", round, first, body, line, column };
}

/** `(recur next …)`, as the last thing that a loop or a function does. */
export function recur(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const { round } = context;
  if (round === null) {
    throw resolver.error(
      list,
      "recur is not the last thing here",
      "it goes back to the start of a loop or fn, so nothing can follow",
    );
  }
  const count = round.bindings.length;
  resolver.checkCount(list, "recur", { least: count, most: count }, list.items.length - 1);
  round.used = true;
  return { kind: "again", round, items: resolver.values(list.items.slice(1), context) };
}

/** `(for [x list :when test :let [y value]] …)` gives a vector of what comes of every turn. */
export function forForm(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  return turnsOf(list, "for", true, context, resolver);
}

/** `(doseq [x list] …)` does something for each, and gives nil. */
export function doseq(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  return turnsOf(list, "doseq", false, context, resolver);
}

function turnsOf(
  list: FormOf<"list">,
  what: string,
  collects: boolean,
  context: Context,
  resolver: Resolver,
): Expression {
  const inner = { ...context, scope: new Scope(context.scope), round: null };
  const turns: Turn[] = [];
  for (const [left, right] of pairsOf(list, what, resolver)) {
    if (left.kind !== "keyword") turns.push(...each(left, right, inner, resolver));
    else if (turns.length === 0) throw resolver.error(left, `${what} begins with a name and a list`);
    else turns.push(...modifier(left, right, what, inner, resolver));
  }
  if (turns.length === 0) throw resolver.error(list, `${what} has nothing to go through`, `write (${what} [x list] …)`);
  return { kind: "for", turns, body: bodyAfter(list, 2, inner, resolver), collects };
}

function each(pattern: Form, value: Form, context: Context, resolver: Resolver): readonly Turn[] {
  const list = resolver.value(value, context);
  const { binding, statements } = receivePattern(pattern, context, resolver);
  const { line, column } = value;
  return [{ kind: "each", binding, list, line, column }, ...statements.map(asTurn)];
}

function modifier(
  { name, line, column }: FormOf<"keyword">,
  value: Form,
  what: string,
  context: Context,
  resolver: Resolver,
): readonly Turn[] {
  if (name === "when") return [{ kind: "when", test: resolver.value(value, context) }];
  if (name !== "let") throw resolver.error({ line, column }, `${what} has no :${name}`, "it knows :when and :let");
  if (value.kind !== "vector") throw resolver.error(value, ":let takes names and values in [ ]");
  return bindAll(inPairs(value, ":let", resolver), context, resolver).map(asTurn);
}

function asTurn(statement: Statement): Turn {
  return { kind: "bind", statement };
}

function bindAll(
  pairs: readonly (readonly [Form, Form])[],
  context: Context,
  resolver: Resolver,
): readonly Statement[] {
  return pairs.flatMap(([pattern, value]) => {
    refuseRepeats([pattern], resolver);
    return bindPattern(pattern, resolver.value(value, context), context, resolver);
  });
}

function pairsOf(list: FormOf<"list">, what: string, resolver: Resolver): readonly (readonly [Form, Form])[] {
  const [, bindings] = list.items;
  if (bindings?.kind === "vector") return inPairs(bindings, what, resolver);
  const given = bindings === undefined ? "nothing" : printShort(bindings);
  throw resolver.error(bindings ?? list, `${what} takes names and values in [ ], and got ${given}`);
}

function inPairs(bindings: FormOf<"vector">, what: string, resolver: Resolver): readonly (readonly [Form, Form])[] {
  const pairs: (readonly [Form, Form])[] = [];
  for (let index = 0; index < bindings.items.length; index += 2) {
    const [name, value] = bindings.items.slice(index, index + 2);
    if (name === undefined) break;
    if (value === undefined)
      throw resolver.error(name, `${printShort(name)} has no value`, `${what} takes them in pairs`);
    pairs.push([name, value]);
  }
  return pairs;
}
