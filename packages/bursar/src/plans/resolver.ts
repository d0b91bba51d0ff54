import { nearest } from "../core/nearest.js";
import type { Form, FormOf } from "./edn/form.js";
import { printShort } from "./edn/print.js";
import { DEEPEST } from "./edn/reader.js";
import { FOREIGN_FORMS, FORMS } from "./forms/forms.js";
import { BUILTINS } from "./library/library.js";
import type { PlanError, Position } from "./plan-error.js";
import type { Source } from "./source.js";
import type { Arity, Binding, Expression, FunctionExpression, Round, Routine } from "./syntax/expression.js";
import type { Scope } from "./syntax/scope.js";

/** Where an expression stands. */
export interface Context {
  readonly scope: Scope;
  /** The names that a nested run cannot see, for a hint. */
  readonly hidden: Scope | null;
  readonly routine: Routine;
  /** What `recur` would go back to from here; null where something is left to do afterwards. */
  readonly round: Round | null;
  readonly depth: number;
}

/** Compiles a nested run, and gives its number among the children and what the host is told about it. */
export type AddChild = (list: FormOf<"list">, hidden: Scope) => { readonly child: number; readonly options: object };

const MOST_ARGUMENTS = 1000;

/** Makes expressions of forms: finds what every name stands for, and refuses what stands for nothing. */
export class Resolver {
  readonly source: Source;
  readonly addChild: AddChild;
  /** The capabilities that the plan names, each with its first place. */
  readonly tools: Map<string, Position> = new Map();
  readonly effects: Map<string, Position> = new Map();
  readonly functions: FunctionExpression[] = [];
  private count = 0;

  constructor(source: Source, addChild: AddChild) {
    this.source = source;
    this.addChild = addChild;
  }

  error(position: Position, problem: string, hint: string | null = null): PlanError {
    return this.source.error(position, problem, hint);
  }

  newBinding(name: string): Binding {
    return { name, number: this.count++, known: null };
  }

  /** An expression whose value is needed for something else. */
  value(form: Form, context: Context): Expression {
    return this.expression(form, { ...context, round: null });
  }

  values(forms: readonly Form[], context: Context): readonly Expression[] {
    return forms.map((form) => this.value(form, context));
  }

  expression(form: Form, context: Context): Expression {
    const deeper = { ...context, depth: context.depth + 1 };
    if (deeper.depth > DEEPEST) throw this.error(form, `nested more than ${DEEPEST} deep`, "give parts of it names");
    const { line, column } = form;
    switch (form.kind) {
      case "nil":
        return { kind: "literal", value: null };
      case "boolean":
      case "number":
      case "text":
      case "character":
        return { kind: "literal", value: form.value };
      case "keyword":
        return { kind: "literal", value: form.name };
      case "symbol":
        return this.symbol(form, deeper);
      case "vector":
        return { kind: "vector", items: this.values(form.items, deeper) };
      case "set":
        return { kind: "set", items: this.values(form.items, deeper), line, column };
      case "map":
        return this.map(form, deeper);
      case "list":
        return this.list(form, deeper);
    }
  }

  /** Refuses a number of arguments that does not fit. */
  checkCount(position: Position, what: string, { least, most }: Arity, count: number): void {
    if (count >= least && (most === null || count <= most)) return;
    const wanted = most === null ? `${least} or more` : most === least ? `${least}` : `${least} to ${most}`;
    const noun = wanted === "1" ? "argument" : "arguments";
    throw this.error(position, `${what} takes ${wanted} ${noun}, and ${count} ${count === 1 ? "is" : "are"} given`);
  }

  private symbol(form: FormOf<"symbol">, { scope, hidden }: Context): Expression {
    const binding = scope.find(form.name);
    if (binding !== null) return { kind: "local", binding };
    const { name, line, column } = form;
    if (FORMS.has(name)) throw this.error(form, `${name} is a form, and no value`, `use it as (${name} …)`);
    const builtin = BUILTINS.get(name);
    if (builtin !== undefined) return { kind: "builtin", builtin, line, column };
    throw this.unknown(form, scope, hidden);
  }

  private unknown(form: FormOf<"symbol">, scope: Scope, hidden: Scope | null): PlanError {
    const { name } = form;
    const problem = `${name} is not known`;
    if (hidden?.find(name) != null) {
      return this.error(
        form,
        problem,
        `a nested run has a memory of its own; hand it over with :input {:${name} ${name}}`,
      );
    }
    const foreign = Object.hasOwn(FOREIGN_FORMS, name) ? FOREIGN_FORMS[name] : undefined;
    if (foreign !== undefined) return this.error(form, problem, foreign);
    const known = [...scope.known(), ...FORMS.keys(), ...BUILTINS.keys()];
    const guess = name.length < 3 ? null : nearest(name, known);
    return this.error(form, problem, guess === null ? "docs/PLANS.md lists what there is" : `did you mean ${guess}?`);
  }

  private map(form: FormOf<"map">, context: Context): Expression {
    const { line, column } = form;
    const seen = new Set<string>();
    const entries = form.entries.map(([key, value]) => {
      const resolved = this.key(key, context);
      if (resolved.kind === "literal") {
        const text = String(resolved.value);
        if (seen.has(text)) {
          throw this.error(key, `the key ${printShort(key)} is given twice`, `:${text} and "${text}" are the same key`);
        }
        seen.add(text);
      }
      return [resolved, this.value(value, context)] as const;
    });
    return { kind: "map", entries, line, column };
  }

  private key(key: Form, context: Context): Expression {
    if (["keyword", "text", "character", "symbol", "list"].includes(key.kind)) return this.value(key, context);
    throw this.error(key, `${printShort(key)} cannot be the key of a map`, "keys are keywords and texts, as in JSON");
  }

  private list(form: FormOf<"list">, context: Context): Expression {
    const [head, ...rest] = form.items;
    if (head === undefined) throw this.error(form, "() does nothing", "write [] for an empty vector, nil for nothing");
    if (rest.length > MOST_ARGUMENTS && !(head.kind === "symbol" && head.name === "do")) {
      throw this.error(form, `more than ${MOST_ARGUMENTS} arguments`, "put them into a vector");
    }
    if (head.kind === "symbol" && context.scope.find(head.name) === null) {
      const special = FORMS.get(head.name);
      if (special !== undefined) return special(form, context, this);
      const builtin = BUILTINS.get(head.name);
      if (builtin !== undefined) return this.use(form, head.name, this.values(rest, context), context);
    }
    if (head.kind === "keyword") {
      this.checkCount(form, `:${head.name} as a function`, { least: 1, most: 2 }, rest.length);
      const [from, ...otherwise] = this.values(rest, context);
      const items = [from as Expression, { kind: "literal", value: head.name } as const, ...otherwise];
      return this.use(form, "get", items, context);
    }
    if (head.kind !== "symbol" && head.kind !== "list") {
      throw this.error(
        head,
        `${printShort(head)} cannot be called`,
        "a list begins with what is to be done; data goes into [ ]",
      );
    }
    return this.apply(form, head, rest, context);
  }

  /** A use of a builtin, by its name. */
  use(position: Position, name: string, items: readonly Expression[], { routine }: Context): Expression {
    const builtin = BUILTINS.get(name);
    if (builtin === undefined) throw new Error(`the library has no ${name}`);
    this.checkCount(position, name, builtin, items.length);
    const { line, column } = position;
    const handed = builtin.calls === undefined ? null : handedOver(items[builtin.calls]);
    if (handed === undefined || builtin.waits === true) routine.waits = true;
    else if (handed !== null) routine.calls.add(handed);
    return { kind: "use", builtin, items, handed, line, column };
  }

  private apply(form: Form, head: Form, rest: readonly Form[], context: Context): Expression {
    const { line, column } = form;
    const callee = this.value(head, context);
    const known = callee.kind === "function" ? callee : callee.kind === "local" ? callee.binding.known : null;
    if (known !== null) {
      this.checkCount(form, head.kind === "symbol" ? head.name : "the function", known.arity, rest.length);
      context.routine.calls.add(known);
    } else {
      context.routine.waits = true;
    }
    return { kind: "apply", callee, items: this.values(rest, context), line, column };
  }
}

/** The function that a builtin is given: null for one that never waits, undefined for one that is not known. */
function handedOver(item: Expression | undefined): Routine | null | undefined {
  switch (item?.kind) {
    case "function":
      return item;
    case "local":
      return item.binding.known ?? undefined;
    case "literal":
      return null;
    case "builtin":
      return item.builtin.calls === undefined && item.builtin.waits !== true ? null : undefined;
    default:
      return undefined;
  }
}
