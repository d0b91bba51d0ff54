import type { Form, FormOf } from "../edn/form.js";
import { printShort } from "../edn/print.js";
import type { Context, Resolver } from "../resolver.js";
import type { Expression } from "../syntax/expression.js";

/** `(-> x (f a) (g b))` is `(g (f x a) b)`: the value goes in as the first argument. */
export function threadFirst(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  return threaded(list, "->", (value, [head, ...rest]) => [head, value, ...rest], context, resolver);
}

/** `(->> x (f a) (g b))` is `(g b (f a x))`: the value goes in as the last argument. */
export function threadLast(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  return threaded(list, "->>", (value, parts) => [...parts, value], context, resolver);
}

function threaded(
  list: FormOf<"list">,
  what: string,
  put: (value: Form, parts: readonly [Form, ...Form[]]) => readonly Form[],
  context: Context,
  resolver: Resolver,
): Expression {
  const [, first, ...stages] = list.items;
  if (first === undefined) throw resolver.error(list, `${what} needs a value to begin with`);
  const whole = stages.reduce((value, stage) => {
    const { line, column } = stage;
    const parts = stage.kind === "list" ? stage.items : [stage];
    const [head, ...rest] = parts;
    if (head === undefined || !["symbol", "keyword", "list"].includes(head.kind)) {
      throw resolver.error(
        stage,
        `a value cannot go through ${printShort(stage)}`,
        "a function goes here, or (function …)",
      );
    }
    return { kind: "list", items: put(value, [head, ...rest]), line, column };
  }, first);
  return resolver.expression(whole, context);
}
