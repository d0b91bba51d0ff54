import type { Form, FormOf } from "../edn/form.js";
import { type Binding, type Expression, NIL, type Statement } from "../expression.js";
import type { Context, Resolver } from "../resolver.js";
import { Scope } from "../scope.js";
import { fill, outline } from "./function.js";
import { checkName } from "./pattern.js";

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
