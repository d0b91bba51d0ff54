import type { Form, FormOf } from "../edn/form.js";
import {
  type Arity,
  type Binding,
  type Expression,
  type FunctionExpression,
  NIL,
  type Routine,
} from "../expression.js";
import type { Position } from "../plan-error.js";
import type { Context, Resolver } from "../resolver.js";
import { Scope } from "../scope.js";
import { block, body } from "./body.js";
import { checkName, receivePattern, refuseRepeats } from "./pattern.js";

/** A function of which the parameters are known already, and the body is not. */
export interface Outline {
  readonly made: FunctionExpression;
  readonly required: readonly Form[];
  readonly rest: Form | null;
  readonly forms: readonly Form[];
}

/** `(fn [x] …)`, or `(fn name [x] …)` for one that calls itself. */
export function fn(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const [, first, ...rest] = list.items;
  if (first?.kind !== "symbol") return fill(outline(list, list.items.slice(1), null, resolver), context, resolver);
  const self = resolver.newBinding(checkName(first, resolver));
  const outlined = outline(list, rest, self, resolver);
  self.known = outlined.made;
  const scope = new Scope(context.scope);
  scope.add(self);
  return fill(outlined, { ...context, scope }, resolver);
}

/** What others have to know of a function in order to call it, before anything in it is resolved. */
export function outline(
  list: FormOf<"list">,
  parts: readonly Form[],
  self: Binding | null,
  resolver: Resolver,
): Outline {
  const [parameters, ...forms] = parts;
  if (parameters?.kind === "list") {
    throw resolver.error(parameters, "a function has one list of parameters", "write (fn [a b] …), or [a & more]");
  }
  if (parameters?.kind !== "vector") {
    throw resolver.error(parameters ?? list, "the parameters are missing", "write them in [ ], also if there are none");
  }
  if (forms.length === 0) throw resolver.error(list, "the function has nothing to do", "add what it gives back");
  const { required, rest } = split(parameters, resolver);
  const made = empty(list, self, { least: required.length, most: rest === null ? required.length : null });
  resolver.functions.push(made);
  return { made, required, rest, forms };
}

/** Resolves the body of a function. */
export function fill(
  { made, required, rest, forms }: Outline,
  context: Context,
  resolver: Resolver,
): FunctionExpression {
  const inner = { ...context, scope: new Scope(context.scope), routine: made, round: null };
  const received = required.map((pattern) => receivePattern(pattern, inner, resolver));
  made.parameters = received.map(({ binding }) => binding);
  if (rest !== null) {
    const last = receivePattern(rest, inner, resolver);
    made.rest = last.binding;
    received.push(last);
  }
  made.round.bindings = received.map(({ binding }) => binding);
  const statements = received.flatMap((each) => each.statements);
  made.body = block(statements, body(forms, { ...inner, round: made.round }, resolver));
  return made;
}

function empty({ line, column }: Position, self: Binding | null, arity: Arity): FunctionExpression {
  const round = { bindings: [], used: false };
  const routine = { waits: false, calls: new Set<Routine>() };
  return { kind: "function", self, parameters: [], rest: null, arity, round, body: NIL, ...routine, line, column };
}

function split(
  parameters: FormOf<"vector">,
  resolver: Resolver,
): { readonly required: readonly Form[]; readonly rest: Form | null } {
  refuseRepeats([parameters], resolver);
  const { items } = parameters;
  const place = items.findIndex((item) => item.kind === "symbol" && item.name === "&");
  if (place < 0) return { required: items, rest: null };
  const [rest, further] = items.slice(place + 1);
  if (rest === undefined) throw resolver.error(parameters, "a name is missing behind &", "write [a & more]");
  if (further !== undefined) throw resolver.error(further, "nothing can follow the rest of the arguments");
  return { required: items.slice(0, place), rest };
}
