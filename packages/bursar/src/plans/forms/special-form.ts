import type { FormOf } from "../edn/form.js";
import type { Expression } from "../expression.js";
import type { Context, Resolver } from "../resolver.js";

/** Reads a list that begins with its name. What it holds is not simply computed and handed over. */
export type SpecialForm = (list: FormOf<"list">, context: Context, resolver: Resolver) => Expression;
