import type { Opening } from "../../src/core/children.js";
import type { Dimension } from "../../src/core/dimension.js";
import type { Dimensions } from "../../src/core/dimensions.js";
import type { ExhaustionPolicy } from "../../src/core/policy.js";

type Numbers = Readonly<Record<string, number>>;

export interface Node {
  readonly id: string;
  readonly parent: Node | null;
  readonly opening: Opening;
  readonly limits: Record<string, number>;
  readonly policies: Record<string, ExhaustionPolicy>;
  readonly thresholds: readonly number[];
  readonly granted: Record<string, number>;
  readonly fired: Record<string, number>;
  readonly exhausted: Set<string>;
  elapsed: number;
  running: boolean;
  ended: boolean;
}

interface Call {
  readonly leaf: Node;
  readonly asked: Numbers;
  readonly expires: number;
  readonly charged: boolean;
  open: boolean;
}

export interface Said {
  readonly kind: string;
  readonly budget: string;
  readonly dimension: string;
  readonly percent: number;
  readonly policy: ExhaustionPolicy;
  readonly consumed: number;
}

/** The answer to a call, and what stood in its way: budget, dimension and refusal in one word. */
export interface Answer {
  readonly kind: string;
  readonly found: readonly string[];
}

/** All that can be compared of a budget. */
export interface Figures {
  readonly budget: string;
  readonly columns: readonly { id: string; limit: number; used: number; reserved: number; aside: number }[];
  readonly exhausted: readonly string[];
  readonly open: number;
}

interface Found {
  readonly node: Node;
  readonly id: string;
  readonly why: string;
  readonly policy: ExhaustionPolicy;
}

const STRICTEST_FIRST: readonly ExhaustionPolicy[] = ["hard_stop", "approval_required", "soft_warn"];

/**
 * The rules of the ledger written down a second time, as naively as can be: it remembers what happened and adds it all up
 * from the beginning whenever it is asked. Nothing is kept up to date, so nothing can get out of step.
 */
export class Naive {
  readonly nodes: Node[] = [];
  readonly calls: Call[] = [];
  readonly said: Said[] = [];
  private readonly usage: { leaf: Node; used: Numbers }[] = [];
  private readonly dimensions: Dimensions;
  private instant = 0;
  /** The monotonic clock as it was read last, and the latest it ever showed. */
  private reading = 0;
  private seen = 0;

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
  }

  advance(ms: number, jump: number): void {
    this.instant += ms + jump;
    this.reading += ms;
    const passed = Math.max(0, this.reading - this.seen);
    this.seen += passed;
    for (const node of this.nodes) if (node.running) node.elapsed += passed;
  }

  used(node: Node, { id, kind }: Dimension): number {
    if (kind === "clock") return Math.floor(node.elapsed);
    const amounts = this.usage.filter(({ leaf }) => lineage(leaf).includes(node)).map(({ used }) => used[id] ?? 0);
    return kind === "peak" ? Math.max(0, ...amounts) : amounts.reduce((sum, value) => sum + value, 0);
  }

  limit(node: Node, id: string): number {
    return node.limits[id] === undefined ? Number.POSITIVE_INFINITY : node.limits[id] + (node.granted[id] ?? 0);
  }

  /** What a budget's ancestors keep for it. */
  private kept(node: Node, dimension: Dimension): number {
    const funded = node.opening.grant.kind !== "limits" && !node.ended && dimension.kind === "sum";
    if (!funded || node.limits[dimension.id] === undefined) return 0;
    return Math.max(0, this.limit(node, dimension.id) - this.used(node, dimension));
  }

  private aside(node: Node, dimension: Dimension): number {
    const reserves = this.nodes.filter(({ parent, opening }) => parent === node && opening.grant.kind === "wrap_up");
    if (dimension.kind === "clock") {
      return total(reserves.filter(({ ended }) => !ended).map(({ opening }) => wrapUp(opening)[dimension.id] ?? 0));
    }
    return total(reserves.map((reserve) => this.kept(reserve, dimension)));
  }

  /** Calls in flight and what is kept for children, unless a budget in between is paid for already. */
  reserved(node: Node, dimension: Dimension): number {
    const { id, kind } = dimension;
    if (kind !== "sum") return 0;
    const reaches = (from: Node | null) => {
      for (let at = from; at !== null; at = at.parent) {
        if (at === node) return true;
        if (covers(at, id)) return false;
      }
      return false;
    };
    const flying = this.calls.filter((call) => call.open && reaches(call.leaf)).map(({ asked }) => asked[id] ?? 0);
    const kept = this.nodes
      .filter(
        (child) => (child.opening.grant.kind === "wrap_up" ? child.parent !== node : true) && reaches(child.parent),
      )
      .map((child) => this.kept(child, dimension));
    return total(flying) + total(kept);
  }

  open(parent: Node | null, opening: Opening): Answer {
    const path = parent === null ? [] : lineage(parent);
    this.tell(path);
    const answer = this.decide(path, {});
    if (!["admitted", "busy"].includes(answer.kind)) return answer;
    const limits: Record<string, number> = {};
    for (const dimension of this.dimensions.all) {
      const limit = this.granted(path, opening, dimension);
      if (limit !== Number.POSITIVE_INFINITY) limits[dimension.id] = limit;
    }
    const policies: Record<string, ExhaustionPolicy> = {};
    for (const id of Object.keys(limits)) {
      const own = opening.policies?.[id] ?? parent?.policies[id] ?? this.dimensions.get(id).defaultPolicy;
      const others = opening.grant.kind === "limits" ? [] : path.flatMap((node) => node.policies[id] ?? []);
      policies[id] = STRICTEST_FIRST.find((policy) => [own, ...others].includes(policy)) ?? own;
    }
    const thresholds = opening.thresholds ?? parent?.thresholds ?? [50, 80];
    const { id } = opening;
    const life = { elapsed: 0, running: true, ended: false };
    const blank = { granted: {}, fired: {}, exhausted: new Set<string>() };
    this.nodes.push({ id, parent, opening, limits, policies, thresholds, ...blank, ...life });
    return answer;
  }

  reserve(leaf: Node, asked: Numbers, expires: number, charged: boolean): Answer {
    this.tell(lineage(leaf));
    const answer = this.decide(lineage(leaf), asked);
    if (answer.kind === "admitted") this.calls.push({ leaf, asked, expires, charged, open: true });
    return answer;
  }

  figures(node: Node): Figures {
    const columns = this.dimensions.all.map((dimension) => ({
      id: dimension.id,
      limit: this.limit(node, dimension.id),
      used: this.used(node, dimension),
      reserved: this.reserved(node, dimension),
      aside: this.aside(node, dimension),
    }));
    return { budget: node.id, columns, exhausted: [...node.exhausted].sort(), open: this.unsettled(node) };
  }

  /** The answer a call would get, of which nothing is recorded. */
  peek(leaf: Node, asked: Numbers): Answer {
    return answer(lineage(leaf).flatMap((node, index, path) => this.examine(node, path.slice(0, index), asked)));
  }

  /** Calls in flight and children that have not ended. */
  unsettled(node: Node): number {
    const calls = this.calls.filter(({ open, leaf }) => open && leaf === node);
    return calls.length + this.nodes.filter(({ parent, ended }) => parent === node && !ended).length;
  }

  settle(call: Call, used: Numbers): void {
    call.open = false;
    this.charge(call.leaf, used);
  }

  charge(leaf: Node, used: Numbers): void {
    this.usage.push({ leaf, used });
    this.tell(lineage(leaf));
  }

  /** Settles the calls that have expired, in the order in which they were made. */
  sweep(): number {
    const due = this.calls.filter(({ open, expires }) => open && expires <= this.instant);
    for (const call of due) this.settle(call, call.charged ? call.asked : {});
    return due.length;
  }

  extend(node: Node, additional: Numbers): "extended" | "no_room" {
    for (const [id, amount] of Object.entries(additional)) {
      const dimension = this.dimensions.get(id);
      const wanted = dimension.kind === "peak" ? this.limit(node, id) + amount : amount;
      const hard = lineage(node)
        .slice(1)
        .filter(({ policies }) => policies[id] !== "soft_warn");
      if (wanted > this.freeOn(hard, dimension)) return "no_room";
    }
    for (const [id, amount] of Object.entries(additional)) {
      node.granted[id] = (node.granted[id] ?? 0) + amount;
      node.exhausted.delete(id);
      node.fired[id] = Math.min(node.fired[id] ?? 0, this.crossed(node, this.dimensions.get(id)));
    }
    return "extended";
  }

  /** Everything that has to be said once and has not been. */
  tell(path: readonly Node[]): void {
    for (const node of path) {
      for (const id of Object.keys(node.limits)) {
        const dimension = this.dimensions.get(id);
        const before = node.fired[id] ?? 0;
        const after = Math.max(before, this.crossed(node, dimension));
        node.fired[id] = after;
        for (const percent of node.thresholds.slice(before, after)) this.say(node, "Warning", id, percent);
        const over = this.used(node, dimension) - (this.limit(node, id) - this.aside(node, dimension));
        if (dimension.kind === "clock" ? over >= 0 : over > 0) this.exhaust(node, id);
      }
    }
  }

  /** What a new budget gets of one dimension; infinite is no limit. */
  private granted(path: readonly Node[], { grant }: Opening, dimension: Dimension): number {
    const { id, kind } = dimension;
    if (grant.kind === "wrap_up") return (kind === "sum" ? grant.amounts[id] : undefined) ?? Number.POSITIVE_INFINITY;
    if (grant.kind === "fraction") {
      const free = this.freeOn(path, dimension);
      return kind === "peak" ? free : Math.floor(free * grant.of);
    }
    const own = grant.limits[id] ?? Number.POSITIVE_INFINITY;
    const hard = path.filter(({ policies }) => policies[id] !== "soft_warn");
    return grant.clamp === true ? Math.min(own, this.leftOn(hard, dimension)) : own;
  }

  private leftOn(path: readonly Node[], dimension: Dimension): number {
    const used = (node: Node) => (dimension.kind === "peak" ? 0 : this.used(node, dimension));
    const left = path.map((node) => this.limit(node, dimension.id) - this.aside(node, dimension) - used(node));
    return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...left));
  }

  private decide(path: readonly Node[], asked: Numbers): Answer {
    const found = path.flatMap((node, index) => this.examine(node, path.slice(0, index), asked));
    for (const { node, id, why, policy } of found) {
      const tooLarge = why === "too_large" && node.opening.scope === "run" && policy !== "soft_warn";
      if (why === "exhausted" || tooLarge) this.exhaust(node, id);
    }
    return answer(found);
  }

  private examine(node: Node, below: readonly Node[], asked: Numbers): Found[] {
    const found: Found[] = [];
    const wrappingUp = below.at(-1)?.opening.grant.kind === "wrap_up";
    for (const id of Object.keys(node.limits)) {
      const dimension = this.dimensions.get(id);
      const clock = dimension.kind === "clock";
      const payer = clock ? undefined : below.find((lower) => covers(lower, id));
      const spent = (asked[id] ?? 0) > 0 && node.exhausted.has(id) && payer?.opening.grant.kind !== "wrap_up";
      if (payer !== undefined && !spent) continue;
      const why = this.why(node, dimension, asked[id] ?? 0, wrappingUp && clock);
      const policy = node.policies[id] ?? dimension.defaultPolicy;
      if (why !== null && !(why === "busy" && policy === "soft_warn")) found.push({ node, id, why, policy });
    }
    const { deadline = null } = node.opening;
    if (deadline !== null && (this.instant >= deadline || node.exhausted.has("deadline"))) {
      found.push({ node, id: "deadline", why: "exhausted", policy: "hard_stop" });
    }
    return found;
  }

  private why(node: Node, dimension: Dimension, asked: number, wrappingUp: boolean): string | null {
    const used = this.used(node, dimension);
    const limit = this.limit(node, dimension.id) - (wrappingUp ? 0 : this.aside(node, dimension));
    if (node.exhausted.has(dimension.id) && !wrappingUp) return "exhausted";
    if (dimension.kind === "clock") return used >= limit ? "exhausted" : null;
    if (dimension.kind === "peak") return used > limit ? "exhausted" : asked > limit ? "too_large" : null;
    const held = used + this.reserved(node, dimension);
    // What a child keeps under soft_warn may pass a limit of 0 before anything is used.
    if (limit === 0 && used === 0 && asked === 0) return held === 0 ? null : "busy";
    if (used >= limit) return "exhausted";
    if (used + asked > limit) return "too_large";
    return held < limit && held + asked <= limit ? null : "busy";
  }

  freeOn(path: readonly Node[], dimension: Dimension): number {
    let free = Number.POSITIVE_INFINITY;
    for (const node of path) {
      const cap = this.limit(node, dimension.id) - this.aside(node, dimension);
      const taken = dimension.kind === "peak" ? 0 : this.used(node, dimension) + this.reserved(node, dimension);
      free = Math.min(free, cap - taken);
      if (dimension.kind !== "clock" && covers(node, dimension.id)) break;
    }
    return Math.max(0, free);
  }

  private crossed(node: Node, dimension: Dimension): number {
    const limit = this.limit(node, dimension.id);
    if (limit === 0) return 0;
    return node.thresholds.filter((percent) => this.used(node, dimension) * 100 >= percent * limit).length;
  }

  private exhaust(node: Node, id: string): void {
    if (node.exhausted.has(id)) return;
    node.exhausted.add(id);
    this.say(node, "Exhausted", id, 100);
  }

  private say(node: Node, kind: string, dimension: string, percent: number): void {
    const clock = dimension === "deadline";
    const consumed = clock ? this.instant : this.used(node, this.dimensions.get(dimension));
    const policy = (clock ? undefined : node.policies[dimension]) ?? "hard_stop";
    this.said.push({ kind, budget: node.id, dimension, percent, policy, consumed });
  }
}

export function lineage(leaf: Node): Node[] {
  return leaf.parent === null ? [leaf] : [leaf, ...lineage(leaf.parent)];
}

function covers(node: Node, id: string): boolean {
  const { kind } = node.opening.grant;
  return kind === "fraction" || (kind === "wrap_up" && node.limits[id] !== undefined);
}

function answer(found: readonly Found[]): Answer {
  const kinds = found.map(answerTo);
  return {
    kind: ["stopped", "paused", "refused", "busy"].find((kind) => kinds.includes(kind)) ?? "admitted",
    found: found.map(({ node, id, why }) => `${node.id} ${id} ${why}`).sort(),
  };
}

function answerTo({ node, why, policy }: Found): string {
  if (policy === "soft_warn") return "admitted";
  if (why === "busy") return "busy";
  if (why === "too_large" && node.opening.scope === "shared") return "refused";
  return policy === "hard_stop" ? "stopped" : "paused";
}

function wrapUp({ grant }: Opening): Numbers {
  return grant.kind === "wrap_up" ? grant.amounts : {};
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
