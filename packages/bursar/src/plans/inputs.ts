import type { Form } from "./edn/form.js";
import { bindPattern, checkName, internal, refuseRepeats } from "./forms/pattern.js";
import { REQUIRED } from "./library/patterns.js";
import type { Context, Resolver } from "./resolver.js";
import type { Binding, Expression, Statement } from "./syntax/expression.js";

/** Something a plan wants to be given by name. */
export interface PlanInput {
  readonly name: string;
  /** Whether it fails without it. */
  readonly required: boolean;
}

/** What `:inputs` asks for, and the statements that bind its names. */
export interface Inputs {
  readonly wanted: readonly PlanInput[];
  readonly statements: readonly Statement[];
}

/** `[a b]` are needed; `{:keys [a b] :or {b 1}}` takes the input apart like any other map. */
export function readInputs(form: Form | null, input: Binding, context: Context, resolver: Resolver): Inputs {
  const from: Expression = { kind: "local", binding: input };
  if (form === null) return { wanted: [], statements: [] };
  refuseRepeats([form], resolver);
  if (form.kind === "map") {
    return { wanted: optional(form), statements: bindPattern(form, from, context, resolver) };
  }
  if (form.kind !== "vector") {
    throw resolver.error(form, ":inputs takes names in [ ]", "or a pattern such as {:keys [a b] :or {b 1}}");
  }
  const names = form.items.map((item) => ({ name: checkName(item, resolver), item }));
  const statements = names.flatMap(({ name, item }) => {
    const value = internal(REQUIRED, item, [from, { kind: "literal", value: name }]);
    return bindPattern(item, value, context, resolver);
  });
  return { wanted: names.map(({ name }) => ({ name, required: true })), statements };
}

function optional(form: Extract<Form, { kind: "map" }>): readonly PlanInput[] {
  const names = form.entries.flatMap(([key, value]) => {
    if (key.kind === "keyword") return key.name === "keys" && value.kind === "vector" ? value.items : [];
    return [value];
  });
  return names.flatMap((name) => {
    if (name.kind === "symbol" || name.kind === "keyword") return [{ name: name.name, required: false }];
    return name.kind === "text" ? [{ name: name.value, required: false }] : [];
  });
}
