import type { Position } from "../plan-error.js";

/** A piece of EDN as it was read, with the place where it begins. */
export type Form = Position &
  (
    | { readonly kind: "nil" }
    | { readonly kind: "boolean"; readonly value: boolean }
    | { readonly kind: "number"; readonly value: number }
    | { readonly kind: "text"; readonly value: string }
    | { readonly kind: "character"; readonly value: string }
    | { readonly kind: "keyword"; readonly name: string }
    | { readonly kind: "symbol"; readonly name: string }
    | Sequence<"list">
    | Sequence<"vector">
    | Sequence<"set">
    | { readonly kind: "map"; readonly entries: readonly (readonly [Form, Form])[] }
  );

interface Sequence<Kind extends string> {
  readonly kind: Kind;
  readonly items: readonly Form[];
}

export type FormOf<Kind extends Form["kind"]> = Extract<Form, { readonly kind: Kind }>;
