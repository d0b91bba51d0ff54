import { type BudgetLimits, type BudgetPolicies, type OpenBudget, openBudget, type Store } from "bursar";
import type { Configuration } from "bursar/config";
import type { GatewayOptions } from "bursar/gateway";
import { asUsage } from "../as-usage.js";
import { gatewayForesight } from "./foresight.js";

/** What a user says of a gateway, before there is a store. */
export interface GatewayPlan {
  readonly options: Omit<GatewayOptions, "store" | "budget">;
  /** A budget for programs of this machine that show no key; null where all have to show one. */
  readonly budget: {
    readonly limits: BudgetLimits;
    readonly policies?: Readonly<Record<string, string>>;
    readonly name?: string;
    /** What it is called in error messages. */
    readonly label: string;
  } | null;
}

/** The options of a gateway over a store. It opens the budget of the plan. */
export async function gatewayOptions(
  { options, budget }: GatewayPlan,
  config: Configuration,
  store: Store,
): Promise<GatewayOptions & { readonly budget?: OpenBudget }> {
  const open = budget === null ? null : await openOwn(store, budget);
  return { ...options, ...gatewayForesight(config), store, ...(open !== null && { budget: open }) };
}

function openOwn(
  store: Store,
  { limits, policies, name, label }: NonNullable<GatewayPlan["budget"]>,
): Promise<OpenBudget> {
  return asUsage(label, () =>
    openBudget(limits, {
      // One client that asks for too much does not end it for the others.
      store,
      parent: null,
      scope: "shared",
      // What is no policy, `openBudget` refuses.
      ...(policies !== undefined && { policies: policies as BudgetPolicies }),
      ...(name !== undefined && { name }),
    }),
  );
}
