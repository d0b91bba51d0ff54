import type { BudgetId } from "../../core/budget.js";
import type { Operation } from "../../core/operation.js";
import type { Batches } from "./batch.js";
import type { Mirror } from "./mirror.js";
import type { Request } from "./planner.js";

interface Lane {
  queue: Request[];
  busy: boolean;
}

/**
 * Lets requests of one tree of budgets follow each other, because their transactions would only wait for each other's locks.
 * A request that finds its lane free goes at once, alone; those that come while it is under way go together, next. So batches
 * grow with the load, by themselves, and vanish with it.
 */
export class Lanes {
  private readonly lanes: readonly Lane[];
  private readonly batches: Batches;
  private readonly mirror: Mirror;
  private readonly most: number;

  constructor(batches: Batches, mirror: Mirror, count: number, most: number) {
    this.batches = batches;
    this.mirror = mirror;
    this.most = most;
    this.lanes = Array.from({ length: count }, () => ({ queue: [], busy: false }));
  }

  take(request: Request): void {
    const lane = this.laneOf(request);
    lane.queue.push(request);
    if (!lane.busy) void this.run(lane);
  }

  private async run(lane: Lane): Promise<void> {
    lane.busy = true;
    // Everybody who asks in this turn of the event loop goes together.
    await null;
    while (lane.queue.length > 0) {
      const batch = lane.queue.slice(0, this.most);
      lane.queue = lane.queue.slice(this.most);
      await this.batches.settle(batch);
    }
    lane.busy = false;
  }

  private laneOf({ sound }: Request): Lane {
    let tree: string | null = null;
    for (const operation of sound) {
      const budget = this.budgetOf(operation);
      if (budget !== null) {
        tree = this.mirror.rootOf(budget) ?? budget;
        break;
      }
    }
    return this.lanes[tree === null ? 0 : sum(tree) % this.lanes.length] as Lane;
  }

  private budgetOf(operation: Operation): BudgetId | null {
    if ("budget" in operation && typeof operation.budget === "string") return operation.budget;
    if (operation.op === "open") return operation.parent ?? operation.opening.id;
    if ("call" in operation) return this.mirror.calls.get(operation.call)?.value?.budget ?? null;
    return null;
  }
}

function sum(text: string): number {
  let total = 0;
  for (let at = 0; at < text.length; at++) total = (total * 31 + text.charCodeAt(at)) >>> 0;
  return total;
}
