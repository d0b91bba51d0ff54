import type { Position } from "../plan-error.js";
import type { Builtin } from "./builtin.js";
import type { HostEffect } from "./host-effects.js";

/** A name and what it stands for. It never stands for anything else. */
export interface Binding {
  readonly name: string;
  readonly number: number;
  /** The function it is bound to, where that is known from the text. */
  known: FunctionExpression | null;
}

/** How many arguments something takes; null is any number of them. */
export interface Arity {
  readonly least: number;
  readonly most: number | null;
}

/** What `recur` goes back to: a loop, or a function. */
export interface Round {
  bindings: readonly Binding[];
  /** Whether anything goes back to it at all. */
  used: boolean;
}

/** Something that runs by itself: a plan's body or a function. It waits if anything in it waits for the host. */
export interface Routine {
  waits: boolean;
  /** The functions it calls; if one of them waits, it waits too. */
  readonly calls: Set<Routine>;
}

export interface FunctionExpression extends Routine, Position {
  readonly kind: "function";
  /** The name it calls itself by. */
  readonly self: Binding | null;
  readonly arity: Arity;
  readonly round: Round;
  // These are known only after the function is: its own body may call it.
  parameters: readonly Binding[];
  rest: Binding | null;
  body: Expression;
}

/** One part of a block: something to do, or a name for what it gives. */
export interface Statement {
  readonly binding: Binding | null;
  readonly value: Expression;
}

export interface Clause {
  readonly test: Expression;
  readonly value: Expression;
}

/** One part of `for`: a name that goes through a list, a condition, or a further name. */
export type Turn =
  | (Position & { readonly kind: "each"; readonly binding: Binding; readonly list: Expression })
  | { readonly kind: "when"; readonly test: Expression }
  | { readonly kind: "bind"; readonly statement: Statement };

export interface Handler {
  /** The code of the errors it is for; null is all of them. */
  readonly code: string | null;
  readonly binding: Binding;
  readonly body: Expression;
}

/** A plan as the compiler understands it: every name resolved, every short form written out. */
export type Expression =
  | { readonly kind: "literal"; readonly value: null | boolean | number | string }
  | { readonly kind: "vector"; readonly items: readonly Expression[] }
  | (Position & { readonly kind: "set"; readonly items: readonly Expression[] })
  | (Position & { readonly kind: "map"; readonly entries: readonly (readonly [Expression, Expression])[] })
  | { readonly kind: "local"; readonly binding: Binding }
  | (Position & { readonly kind: "builtin"; readonly builtin: Builtin })
  | { readonly kind: "choice"; readonly clauses: readonly Clause[]; readonly otherwise: Expression }
  | { readonly kind: "all" | "any"; readonly items: readonly Expression[] }
  | { readonly kind: "block"; readonly statements: readonly Statement[]; readonly value: Expression }
  | FunctionExpression
  /** `handed` is the function that a builtin is given to call; undefined where it is not known from the text. */
  | (Position & {
      readonly kind: "use";
      readonly builtin: Builtin;
      readonly items: readonly Expression[];
      readonly handed: Routine | null | undefined;
    })
  | (Position & { readonly kind: "apply"; readonly callee: Expression; readonly items: readonly Expression[] })
  | (Position & {
      readonly kind: "loop";
      readonly round: Round;
      readonly first: readonly Expression[];
      readonly body: Expression;
    })
  | { readonly kind: "again"; readonly round: Round; readonly items: readonly Expression[] }
  | { readonly kind: "for"; readonly turns: readonly Turn[]; readonly body: Expression; readonly collects: boolean }
  | (Position & {
      readonly kind: "try";
      readonly body: Expression;
      readonly handlers: readonly Handler[];
      readonly last: Expression | null;
    })
  | (Position & { readonly kind: "tool"; readonly name: string; readonly argument: Expression })
  | (Position & { readonly kind: "effect"; readonly effect: HostEffect; readonly argument: Expression })
  | (Position & { readonly kind: "step"; readonly name: Expression; readonly body: Expression })
  | (Position & { readonly kind: "parallel"; readonly branches: readonly Expression[] })
  | (Position & {
      readonly kind: "spawn";
      readonly child: number;
      readonly options: object;
      readonly input: Expression;
    });

export const NIL: Expression = { kind: "literal", value: null };
