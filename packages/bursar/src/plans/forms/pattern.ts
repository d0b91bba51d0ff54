import { nearest } from "../../core/nearest.js";
import type { Form, FormOf } from "../edn/form.js";
import { printShort } from "../edn/print.js";
import { AS_LIST, AS_MAP } from "../library/patterns.js";
import type { Position } from "../plan-error.js";
import type { Context, Resolver } from "../resolver.js";
import type { Builtin } from "../syntax/builtin.js";
import { type Binding, type Expression, NIL, type Statement } from "../syntax/expression.js";
import { FORM_NAMES } from "./names.js";

/** Names that mean something themselves and so can stand for nothing else. */
const RESERVED: ReadonlySet<string> = new Set(FORM_NAMES);

/** A name that something can be bound to. */
export function checkName(form: Form, resolver: Resolver): string {
  if (form.kind !== "symbol") throw resolver.error(form, `${printShort(form)} is not a name`, "a name goes here");
  const { name } = form;
  if (RESERVED.has(name)) throw resolver.error(form, `${name} is a form of the language`, "choose another name");
  if (name.includes("/")) throw resolver.error(form, `${name} cannot be bound`, "a name that is bound has no slash");
  if (name === "&") throw resolver.error(form, "& stands where nothing can follow it", "write [first & rest]");
  return name;
}

/** Binds the names of a pattern to the parts of a value, from here on. */
export function bindPattern(
  pattern: Form,
  value: Expression,
  context: Context,
  resolver: Resolver,
): readonly Statement[] {
  switch (pattern.kind) {
    case "vector":
      return bindVector(pattern, value, context, resolver);
    case "map":
      return bindMap(pattern, value, context, resolver);
    default: {
      const binding = resolver.newBinding(checkName(pattern, resolver));
      if (value.kind === "function") binding.known = value;
      context.scope.add(binding);
      return [{ binding, value }];
    }
  }
}

/** A binding for something that comes from elsewhere, such as an argument, and the statements that take it apart. */
export function receivePattern(
  pattern: Form,
  context: Context,
  resolver: Resolver,
): { readonly binding: Binding; readonly statements: readonly Statement[] } {
  if (pattern.kind === "vector" || pattern.kind === "map") {
    const binding = resolver.newBinding("part");
    return { binding, statements: bindPattern(pattern, { kind: "local", binding }, context, resolver) };
  }
  const binding = resolver.newBinding(checkName(pattern, resolver));
  context.scope.add(binding);
  return { binding, statements: [] };
}

/** Refuses a name that a list of patterns binds twice: one of them could never be used. */
export function refuseRepeats(patterns: readonly Form[], resolver: Resolver): void {
  const seen = new Set<string>();
  for (const symbol of patterns.flatMap(symbolsIn)) {
    if (seen.has(symbol.name) && symbol.name !== "_" && symbol.name !== "&") {
      throw resolver.error(symbol, `${symbol.name} is bound twice`, "choose another name, or _ for what is not used");
    }
    seen.add(symbol.name);
  }
}

function symbolsIn(pattern: Form): readonly FormOf<"symbol">[] {
  switch (pattern.kind) {
    case "symbol":
      return [pattern];
    case "vector":
      return pattern.items.flatMap(symbolsIn);
    case "map":
      return pattern.entries.flatMap(([key, value]) => {
        if (key.kind !== "keyword") return symbolsIn(key);
        return key.name === "or" ? [] : symbolsIn(value);
      });
    default:
      return [];
  }
}

function bindVector(
  pattern: FormOf<"vector">,
  value: Expression,
  context: Context,
  resolver: Resolver,
): readonly Statement[] {
  const whole = resolver.newBinding("list");
  const from: Expression = { kind: "local", binding: whole };
  const statements: Statement[] = [{ binding: whole, value: internal(AS_LIST, pattern, [value]) }];
  const bind = (part: Form | undefined, what: Expression) => {
    if (part === undefined) throw resolver.error(pattern, "a name is missing at the end of the pattern");
    statements.push(...bindPattern(part, what, context, resolver));
  };
  for (let index = 0; index < pattern.items.length; index++) {
    const part = pattern.items[index] as Form;
    const place: Expression = { kind: "literal", value: index };
    if (part.kind === "symbol" && part.name === "&") {
      index++;
      bind(pattern.items[index], resolver.use(part, "drop", [place, from], context));
      const next = pattern.items[index + 1];
      if (next !== undefined && !isAs(next)) throw resolver.error(next, "nothing can follow the rest", "put it last");
    } else if (isAs(part)) {
      index++;
      bind(pattern.items[index], from);
      const next = pattern.items[index + 1];
      if (next !== undefined) throw resolver.error(next, "nothing can follow :as and its name", "put it before :as");
    } else {
      bind(part, resolver.use(part, "nth", [from, place, NIL], context));
    }
  }
  return statements;
}

function isAs(form: Form): boolean {
  return form.kind === "keyword" && form.name === "as";
}

const PARTS = ["keys", "or", "as"];

function bindMap(
  pattern: FormOf<"map">,
  value: Expression,
  context: Context,
  resolver: Resolver,
): readonly Statement[] {
  const whole = resolver.newBinding("map");
  const statements: Statement[] = [{ binding: whole, value: internal(AS_MAP, pattern, [value]) }];
  const defaults = defaultsOf(pattern, resolver);
  const take = (part: Form, key: string) => {
    const from: readonly Expression[] = [
      { kind: "local", binding: whole },
      { kind: "literal", value: key },
    ];
    const found = resolver.use(part, "get", from, context);
    const otherwise = part.kind === "symbol" ? defaults.get(part.name) : undefined;
    if (part.kind === "symbol") defaults.delete(part.name);
    const test = resolver.use(part, "contains?", from, context);
    const what: Expression =
      otherwise === undefined
        ? found
        : { kind: "choice", clauses: [{ test, value: found }], otherwise: resolver.value(otherwise, context) };
    statements.push(...bindPattern(part, what, context, resolver));
  };
  for (const [key, given] of pattern.entries) {
    if (key.kind !== "keyword") {
      take(key, keyOf(given, resolver));
    } else if (key.name === "keys") {
      if (given.kind !== "vector") throw resolver.error(given, ":keys takes names in [ ]", "write {:keys [a b]}");
      for (const name of given.items) take(name, checkName(name, resolver));
    } else if (key.name === "as") {
      statements.push(...bindPattern(given, { kind: "local", binding: whole }, context, resolver));
    } else if (key.name !== "or") {
      throw unknownPart(key, resolver);
    }
  }
  const [idle] = defaults;
  if (idle !== undefined) throw resolver.error(idle[1], `:or has ${idle[0]}, which the pattern does not bind`);
  return statements;
}

function defaultsOf(pattern: FormOf<"map">, resolver: Resolver): Map<string, Form> {
  const given = pattern.entries.find(([key]) => key.kind === "keyword" && key.name === "or")?.[1];
  if (given === undefined) return new Map();
  if (given.kind !== "map") throw resolver.error(given, ":or takes a map of names and values", "write :or {a 1}");
  return new Map(given.entries.map(([name, value]) => [checkName(name, resolver), value]));
}

function keyOf(form: Form, resolver: Resolver): string {
  if (form.kind === "keyword") return form.name;
  if (form.kind === "text") return form.value;
  throw resolver.error(form, `${printShort(form)} is no key`, "a pattern in { } goes from names to keys: {a :key}");
}

function unknownPart(key: FormOf<"keyword">, resolver: Resolver): Error {
  const guess = nearest(key.name, PARTS);
  const hint = guess === null ? "a pattern in { } knows :keys, :or and :as" : `did you mean :${guess}?`;
  return resolver.error(key, `a pattern has no :${key.name}`, hint);
}

/** A use of something that plans do not see by name. */
export function internal(builtin: Builtin, position: Position, items: readonly Expression[]): Expression {
  const { line, column } = position;
  return { kind: "use", builtin, items, handed: null, line, column };
}
