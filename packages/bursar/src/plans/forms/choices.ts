import type { Form, FormOf } from "../edn/form.js";
import type { Context, Resolver } from "../resolver.js";
import { type Clause, type Expression, NIL } from "../syntax/expression.js";
import { bodyAfter } from "./body.js";

/** `(if test then else)`. */
export function ifForm(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const [, test, then, otherwise] = list.items;
  resolver.checkCount(list, "if", { least: 2, most: 3 }, list.items.length - 1);
  return {
    kind: "choice",
    clauses: [{ test: resolver.value(test as Form, context), value: resolver.expression(then as Form, context) }],
    otherwise: otherwise === undefined ? NIL : resolver.expression(otherwise, context),
  };
}

/** `(when test …)`. */
export function when(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const [, test] = list.items;
  if (test === undefined) throw resolver.error(list, "when needs a condition", "write (when test …)");
  const clause = { test: resolver.value(test, context), value: bodyAfter(list, 2, context, resolver) };
  return { kind: "choice", clauses: [clause], otherwise: NIL };
}

/** `(cond test value … :else value)`. */
export function cond(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const parts = list.items.slice(1);
  const clauses: Clause[] = [];
  for (let index = 0; index < parts.length; index += 2) {
    const [test, then, further] = parts.slice(index);
    if (test === undefined) break;
    if (then === undefined)
      throw resolver.error(test, "this condition has no value behind it", "cond takes them in pairs");
    const value = resolver.expression(then, context);
    if (test.kind === "keyword" && test.name === "else") {
      if (further !== undefined) throw resolver.error(further, "nothing can follow :else", "put :else last");
      return { kind: "choice", clauses, otherwise: value };
    }
    if (test.kind === "keyword" || test.kind === "text" || test.kind === "number") {
      throw resolver.error(test, "this condition is always true", "write :else for what is left");
    }
    clauses.push({ test: resolver.value(test, context), value });
  }
  if (clauses.length === 0) throw resolver.error(list, "cond has nothing to choose from");
  return { kind: "choice", clauses, otherwise: NIL };
}

/** `(and …)` gives the first value that is nil or false, or else the last. */
export function and(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const items = resolver.values(list.items.slice(1), context);
  return items.length === 0 ? { kind: "literal", value: true } : { kind: "all", items };
}

/** `(or …)` gives the first value that is neither nil nor false, or else the last. */
export function or(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const items = resolver.values(list.items.slice(1), context);
  return items.length === 0 ? NIL : { kind: "any", items };
}
