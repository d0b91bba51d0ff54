import type { FormOf } from "../edn/form.js";
import type { Context, Resolver } from "../resolver.js";
import type { Expression } from "../syntax/expression.js";

/** Reads a list that begins with its name. What it holds is not simply computed and handed over. */
export type SpecialForm = (list: FormOf<"list">, context: Context, resolver: Resolver) => Expression;
