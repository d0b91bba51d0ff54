import { nearest } from "../../core/nearest.js";
import type { Form, FormOf } from "../edn/form.js";
import { printShort } from "../edn/print.js";
import type { Context, Resolver } from "../resolver.js";
import type { Expression, Handler } from "../syntax/expression.js";
import { HOST_EFFECTS } from "../syntax/host-effects.js";
import { Scope } from "../syntax/scope.js";
import { body, bodyAfter } from "./body.js";
import { checkName } from "./pattern.js";

const LONGEST_NAME = 200;
const RESERVED_NAMESPACES: ReadonlySet<string> = new Set(HOST_EFFECTS.map(({ name }) => name.split("/")[0] ?? ""));

/** `(call :mail/send {:to "…"})`: the one way to do something outside of the plan. */
export function call(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const [, capability, argument] = list.items;
  resolver.checkCount(list, "call", { least: 1, most: 2 }, list.items.length - 1);
  const name = capabilityOf(capability as Form, resolver);
  const { line, column } = list;
  const empty: Expression = { kind: "map", entries: [], line, column };
  const given = argument === undefined ? empty : resolver.value(argument, context);
  context.routine.waits = true;
  const effect = HOST_EFFECTS.find((each) => each.name === name);
  const named = effect === undefined ? resolver.tools : resolver.effects;
  if (!named.has(name)) named.set(name, { line: (capability as Form).line, column: (capability as Form).column });
  if (effect !== undefined) return { kind: "effect", effect, argument: given, line, column };
  return { kind: "tool", name, argument: given, line, column };
}

/** A capability is named and never computed, so that everybody can see beforehand what a plan may do. */
function capabilityOf(form: Form, resolver: Resolver): string {
  if (form.kind !== "keyword" && form.kind !== "text") {
    const hint = "write it as a keyword such as :mail/send; use cond to choose between several";
    throw resolver.error(form, `${printShort(form)} does not name a capability`, hint);
  }
  const name = form.kind === "keyword" ? form.name : form.value;
  if (name.trim() === "" || name.length > LONGEST_NAME) {
    throw resolver.error(form, `the name of a capability has 1 to ${LONGEST_NAME} characters`);
  }
  const known = HOST_EFFECTS.map((effect) => effect.name);
  if (!RESERVED_NAMESPACES.has(name.split("/")[0] ?? "") || !name.includes("/") || known.includes(name)) return name;
  const guess = nearest(name, known);
  const hint = guess === null ? `there are ${known.map((each) => `:${each}`).join(", ")}` : `did you mean :${guess}?`;
  throw resolver.error(form, `the host has no :${name}`, hint);
}

/** `(step "name" …)` marks a part of the plan, for whoever watches or reads the chain. */
export function step(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const [, name] = list.items;
  if (name === undefined) throw resolver.error(list, "step needs a name", 'write (step "name" …)');
  const isNamed = ["text", "symbol", "list"].includes(name.kind);
  if (!isNamed) throw resolver.error(name, `${printShort(name)} is no name of a step`, "give it as a text");
  const { line, column } = list;
  context.routine.waits = true;
  const inner = { ...context, round: null };
  return { kind: "step", name: resolver.value(name, context), body: bodyAfter(list, 2, inner, resolver), line, column };
}

/** `(parallel a b …)` does all of it at the same time, and gives a vector of the values. */
export function parallel(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const branches = list.items.slice(1);
  if (branches.length === 0) throw resolver.error(list, "parallel has nothing to do", "write (parallel a b)");
  const { line, column } = list;
  context.routine.waits = true;
  return { kind: "parallel", branches: resolver.values(branches, context), line, column };
}

/** `(try … (catch e …) (finally …))`; `(catch :code e …)` is for errors with that code alone. */
export function tryForm(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const inner = { ...context, round: null };
  const parts = list.items.slice(1);
  const start = parts.findIndex((part) => isPart(part, "catch") || isPart(part, "finally"));
  if (start < 0) throw resolver.error(list, "try has no catch", "write (try … (catch e …))");
  if (start === 0) throw resolver.error(list, "try has nothing to do", "what may fail stands before catch");
  const handlers: Handler[] = [];
  let last: Expression | null = null;
  for (const part of parts.slice(start)) {
    if (last !== null) throw resolver.error(part, "nothing can follow finally", "put finally last");
    if (isPart(part, "catch")) handlers.push(handlerOf(part, handlers.at(-1), inner, resolver));
    else if (isPart(part, "finally")) last = bodyAfter(part, 1, inner, resolver);
    else throw resolver.error(part, "only catch and finally can follow catch", "put it before");
  }
  const { line, column } = list;
  return { kind: "try", body: body(parts.slice(0, start), inner, resolver), handlers, last, line, column };
}

function handlerOf(list: FormOf<"list">, before: Handler | undefined, context: Context, resolver: Resolver): Handler {
  if (before?.code === null) throw resolver.error(list, "the catch before takes all errors", "put this one first");
  const [, first] = list.items;
  const hasCode = first?.kind === "keyword" || first?.kind === "text";
  const name = list.items[hasCode ? 2 : 1];
  if (name === undefined) throw resolver.error(list, "catch needs a name for the error", "write (catch e …)");
  const scope = new Scope(context.scope);
  const binding = resolver.newBinding(checkName(name, resolver));
  scope.add(binding);
  const code = !hasCode ? null : first.kind === "keyword" ? first.name : first.value;
  return { code, binding, body: bodyAfter(list, hasCode ? 3 : 2, { ...context, scope }, resolver) };
}

function isPart(form: Form, name: string): form is FormOf<"list"> {
  if (form.kind !== "list") return false;
  const [head] = form.items;
  return head?.kind === "symbol" && head.name === name;
}

/** `(run :input {…} :budget … :body …)` inside of a plan: a child with a budget and a memory of its own. */
export function run(list: FormOf<"list">, context: Context, resolver: Resolver): Expression {
  const { child, options } = resolver.addChild(list, context.scope);
  const given = list.items.findIndex((item) => item.kind === "keyword" && item.name === "input");
  const input = given < 0 ? undefined : list.items[given + 1];
  const { line, column } = list;
  context.routine.waits = true;
  const empty: Expression = { kind: "map", entries: [], line, column };
  const handedOver = input === undefined ? empty : resolver.value(input, context);
  return { kind: "spawn", child, options, input: handedOver, line, column };
}
