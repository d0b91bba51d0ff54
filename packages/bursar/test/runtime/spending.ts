import { type Link, parseLine } from "../../src/core/chain/link.js";
import { BudgetContext, type BudgetContextOptions } from "../../src/runtime/context.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

export function contextOf(options: BudgetContextOptions = {}) {
  const clock = new FakeClock();
  return { clock, context: new BudgetContext({ clock, ...options }) };
}

/** A call that is admitted and uses exactly what it asks for. */
export function spend(context: BudgetContext, asked: Record<string, number>): void {
  const check = context.checkPreCall({ asked });
  if (!check.proceed) throw new Error(`${check.dimension} is ${check.kind}`);
  context.recordConsumption(check.call_id, { metadata: asked });
}

export function links(context: BudgetContext): readonly Link[] {
  return context.chain.map(parseLine);
}

export function events(context: BudgetContext, name: string) {
  return links(context).filter(({ event }) => event === name);
}
