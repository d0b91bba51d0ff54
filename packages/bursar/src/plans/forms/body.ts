import type { Form, FormOf } from "../edn/form.js";
import type { Position } from "../plan-error.js";
import type { Context, Resolver } from "../resolver.js";
import {
  type Arity,
  type Binding,
  type Expression,
  type FunctionExpression,
  NIL,
  type Routine,
  type Statement,
} from "../syntax/expression.js";
import { Scope } from "../syntax/scope.js";
import { checkName, receivePattern, refuseRepeats } from "./pattern.js";

/** Several forms one after the other. Definitions among them hold from there to the end. */
export function body(forms: readonly Form[], context: Context, resolver: Resolver): Expression {
  const inner = { ...context, scope: new Scope(context.scope) };
  const statements: Statement[] = [];
  let index = 0;
  while (index < forms.length) {
    const group = functionsFrom(forms, index, inner);
    if (group.length > 0) {
      statements.push(...defineTogether(group, inner, resolver));
      index += group.length;
      continue;
    }
    const form = forms[index] as Form;
    index++;
    const isLast = index === forms.length;
    if (isCallOf(form, "def", inner)) statements.push(define(form, inner, resolver));
    else if (isLast) return block(statements, resolver.expression(form, inner));
    else statements.push({ binding: null, value: resolver.value(form, inner) });
  }
  return block(statements, NIL);
}

/** A body that has to be there, behind the first parts of a list. */
export function bodyAfter(list: FormOf<"list">, count: number, context: Context, resolver: Resolver): Expression {
  const forms = list.items.slice(count);
  if (forms.length === 0) {
    const [head] = list.items;
    const name = head?.kind === "symbol" ? head.name : "this";
    throw resolver.error(list, `${name} has nothing to do`, "add what it is for before it is closed");
  }
  return body(forms, context, resolver);
}

export function block(statements: readonly Statement[], value: Expression): Expression {
  return statements.length === 0 ? value : { kind: "block", statements, value };
}

/** Functions that are defined one right after the other may call each other: nothing happens in between. */
function functionsFrom(forms: readonly Form[], start: number, context: Context): readonly FormOf<"list">[] {
  const group: FormOf<"list">[] = [];
  for (let form = forms[start]; form !== undefined; form = forms[start + group.length]) {
    if (!isCallOf(form, "defn", context)) break;
    group.push(form);
  }
  return group;
}

function defineTogether(group: readonly FormOf<"list">[], context: Context, resolver: Resolver): readonly Statement[] {
  const outlined = group.map((list) => {
    const binding = declare(list, context, resolver);
    // Behind the name may stand a text that tells what the function does.
    const parts = list.items.slice(list.items[2]?.kind === "text" ? 3 : 2);
    const outlineOf = outline(list, parts, null, resolver);
    binding.known = outlineOf.made;
    return { binding, outlineOf };
  });
  return outlined.map(({ binding, outlineOf }) => ({ binding, value: fill(outlineOf, context, resolver) }));
}

function define(list: FormOf<"list">, context: Context, resolver: Resolver): Statement {
  resolver.checkCount(list, "def", { least: 2, most: 2 }, list.items.length - 1);
  const value = resolver.value(list.items[2] as Form, context);
  const binding = declare(list, context, resolver);
  if (value.kind === "function") binding.known = value;
  return { binding, value };
}

function declare(list: FormOf<"list">, context: Context, resolver: Resolver): Binding {
  const [head, name] = list.items;
  const what = head?.kind === "symbol" ? head.name : "def";
  if (name === undefined) throw resolver.error(list, `${what} needs a name`);
  const binding = resolver.newBinding(checkName(name, resolver));
  if (context.scope.has(binding.name)) {
    throw resolver.error(name, `${binding.name} is defined already`, "values do not change; choose another name");
  }
  context.scope.add(binding);
  return binding;
}

function isCallOf(form: Form, name: string, { scope }: Context): form is FormOf<"list"> {
  if (form.kind !== "list" || scope.find(name) !== null) return false;
  const [head] = form.items;
  return head?.kind === "symbol" && head.name === name;
}

/** A function of which the parameters are known already, and the body is not. */
interface Outline {
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
function outline(list: FormOf<"list">, parts: readonly Form[], self: Binding | null, resolver: Resolver): Outline {
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
function fill({ made, required, rest, forms }: Outline, context: Context, resolver: Resolver): FunctionExpression {
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
