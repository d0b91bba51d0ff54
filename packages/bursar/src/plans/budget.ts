import type { Dimension } from "../core/dimension.js";
import { readAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { InputError } from "../core/errors.js";
import { nearest } from "../core/nearest.js";
import { type ExhaustionPolicy, POLICIES } from "../core/policy.js";
import type { Form, FormOf } from "./edn/form.js";
import { printShort } from "./edn/print.js";
import type { Position } from "./plan-error.js";
import type { Source } from "./source.js";

/** Limits by dimension id, in edge units (dollars for money); null is no limit. */
export interface PlanLimits {
  readonly limits: Readonly<Record<string, number | null>>;
  /** Where each of them stands in the text. */
  readonly limitPositions: Readonly<Record<string, Position>>;
}

/** What `:budget` says. */
export interface PlanBudget extends PlanLimits {
  /** Where a child's amounts come from; a plan that is started by itself has `given` limits. */
  readonly grant: PlanGrant;
  readonly policies: Readonly<Record<string, ExhaustionPolicy>>;
  readonly policyPositions: Readonly<Record<string, Position>>;
}

export type PlanGrant =
  | { readonly kind: "given" }
  | { readonly kind: "share" }
  | { readonly kind: "fraction"; readonly fraction: number };

/** Reads budgets of one text with the dimensions of one ledger. */
export class BudgetReader {
  private readonly source: Source;
  private readonly dimensions: Dimensions;

  constructor(source: Source, dimensions: Dimensions) {
    this.source = source;
    this.dimensions = dimensions;
  }

  /** `{:steps 100 :policies {:steps :approval-required}}`; a child may also say `:share`, or `:fraction 0.5`. */
  budget(form: Form, isChild: boolean): PlanBudget {
    const none = { limits: {}, limitPositions: {}, policies: {}, policyPositions: {} };
    if (form.kind === "keyword" && form.name === "share") {
      if (!isChild) throw this.source.error(form, "only a nested run can share a budget", "give limits in { }");
      return { ...none, grant: { kind: "share" } };
    }
    if (form.kind !== "map") throw this.source.error(form, `${printShort(form)} is no budget`, "write {:steps 20}");
    const extras = ["policies", ...(isChild ? ["fraction"] : [])];
    const [policies, fraction] = ["policies", "fraction"].map((name) => entryOf(form, name));
    const grant: PlanGrant =
      fraction === undefined || !isChild ? { kind: "given" } : { kind: "fraction", fraction: this.fraction(fraction) };
    return { ...none, grant, ...this.limits(form, extras), ...(policies === undefined ? {} : this.policies(policies)) };
  }

  /** `{:steps 200 :cost_usd 1.0}` */
  session(form: Form): PlanLimits {
    if (form.kind === "map") return this.limits(form, []);
    throw this.source.error(form, `${printShort(form)} holds no limits`, "write {:steps 200}");
  }

  private limits(form: FormOf<"map">, extras: readonly string[]): PlanLimits {
    const limits: Record<string, number | null> = {};
    const limitPositions: Record<string, Position> = {};
    for (const [key, value] of form.entries) {
      if (key.kind === "keyword" && extras.includes(key.name)) continue;
      const { id, ...dimension } = this.dimension(key, extras);
      if (Object.hasOwn(limits, id)) throw this.repeated(key, id);
      limits[id] = this.limit(value, { id, ...dimension }, printShort(key));
      limitPositions[id] = { line: key.line, column: key.column };
    }
    return { limits, limitPositions };
  }

  private limit(form: Form, dimension: Dimension, name: string): number | null {
    if (form.kind === "nil") return null;
    const hint = "give a number; 0 is nothing at all, nil is no limit";
    if (form.kind !== "number") throw this.source.error(form, `${printShort(form)} is no limit for ${name}`, hint);
    try {
      readAmount(dimension, form.value, "down", name);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw this.source.error(form, error.message);
    }
    return form.value;
  }

  private policies(form: Form): Pick<PlanBudget, "policies" | "policyPositions"> {
    if (form.kind !== "map") {
      throw this.source.error(form, `${printShort(form)} holds no policies`, "write {:steps :approval-required}");
    }
    const policies: Record<string, ExhaustionPolicy> = {};
    const policyPositions: Record<string, Position> = {};
    for (const [key, value] of form.entries) {
      const { id } = this.dimension(key, []);
      if (Object.hasOwn(policies, id)) throw this.repeated(key, id);
      policies[id] = this.policy(value);
      policyPositions[id] = { line: key.line, column: key.column };
    }
    return { policies, policyPositions };
  }

  private policy(form: Form): ExhaustionPolicy {
    const name = form.kind === "keyword" ? form.name.replaceAll("-", "_") : "";
    const policy = POLICIES.find((known) => known === name);
    if (policy !== undefined) return policy;
    const guess = nearest(name, POLICIES);
    const known = POLICIES.map(keywordOf).join(", ");
    const hint = guess === null ? `there are ${known}` : `did you mean ${keywordOf(guess)}?`;
    throw this.source.error(form, `${printShort(form)} is no policy`, hint);
  }

  private fraction(form: Form): number {
    if (form.kind === "number" && form.value > 0 && form.value <= 1) return form.value;
    throw this.source.error(form, `${printShort(form)} is no fraction`, "give a number above 0, at most 1");
  }

  private dimension(key: Form, extras: readonly string[]): Dimension {
    if (key.kind !== "keyword") throw this.source.error(key, `${printShort(key)} is no dimension`, "write a keyword");
    try {
      return this.dimensions.resolve(key.name);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const ids = this.dimensions.all.map(({ id }) => id);
      const guess = nearest(key.name.replaceAll("-", "_"), [...ids, ...extras]);
      const known = [...ids, ...extras].map(keywordOf).join(", ");
      const hint = guess === null ? `there are ${known}` : `did you mean ${keywordOf(guess)}?`;
      throw this.source.error(key, `:${key.name} is not a dimension`, hint);
    }
  }

  private repeated(key: Form, id: string): Error {
    return this.source.error(key, `${printShort(key)} says ${id} a second time`, "give it once");
  }
}

function entryOf(form: FormOf<"map">, name: string): Form | undefined {
  return form.entries.find(([key]) => key.kind === "keyword" && key.name === name)?.[1];
}

/** How a plan would write it. */
function keywordOf(id: string): string {
  return `:${id.replaceAll("_", "-")}`;
}
