import type { Amounts } from "../../../core/amount.js";
import { type Budget, covers, heldFor } from "../../../core/budget.js";
import { type Dimension, printAmount } from "../../../core/dimension.js";
import type { Dimensions } from "../../../core/dimensions.js";
import { type CallRow, readAccount, readCall } from "../rows.js";
import type { Defects } from "./defect.js";
import type { Extensions } from "./extensions.js";
import { eachGroup } from "./groups.js";
import { countOf, type Sql, type SqlRow, type WorkOptions } from "./port.js";

/** Each budget with everything that counts in it: itself first, then its children, then its own calls. */
const BOOKS = `
  SELECT accounts.id AS owner, 0 AS part, accounts.id AS id, accounts.ended AS ended, terms AS text, state AS more,
    heads.chain AS chain, heads.archived AS archived
  FROM accounts LEFT JOIN heads ON heads.chain = accounts.chain
  UNION ALL
  SELECT parent, 1, id, ended, terms, state, NULL, NULL FROM accounts WHERE parent IS NOT NULL
  UNION ALL
  SELECT budget, 2, id, 0, status, body, NULL, NULL FROM calls
  ORDER BY owner, part`;

const NO_READING = { instant: 0, monotonic: 0, clock: "" };

export interface BookCounts {
  budgets: number;
  calls: number;
}

export interface BookOptions extends WorkOptions {
  readonly dimensions: Dimensions;
  readonly extensions: Extensions;
}

/** Checks that the books add up: what a budget has used and holds is what its calls and its children say. */
export async function checkBooks(sql: Sql, defects: Defects, options: BookOptions): Promise<BookCounts> {
  const counts = { budgets: 0, calls: 0 };
  const total = (await countOf(sql, "budgets")) + (await countOf(sql, "calls"));
  await eachGroup(
    sql.rows(BOOKS),
    ({ owner }) => String(owner),
    async (owner, group) => {
      const tally = new Tally(owner, options.dimensions);
      for await (const row of group) tally.take(row, defects);
      counts.calls += tally.calls;
      counts.budgets += tally.budget === null ? 0 : 1;
      tally.compare(defects, options.extensions);
      options.progress?.({ what: "books", done: counts.budgets + counts.calls, total });
    },
  );
  return counts;
}

/** Adds up what counts in one budget. */
class Tally {
  budget: Budget | null = null;
  calls = 0;
  private readonly owner: string;
  private readonly dimensions: Dimensions;
  private readonly used = new Figures();
  private readonly reserved = new Figures();
  private readonly aside = new Figures();
  private open = 0;
  private parts = 0;
  private unreadable = false;
  private archived = false;
  private hasChain = true;

  constructor(owner: string, dimensions: Dimensions) {
    this.owner = owner;
    this.dimensions = dimensions;
  }

  take(row: SqlRow, defects: Defects): void {
    const part = Number(row.part);
    try {
      if (part === 0) {
        this.budget = budgetIn(row);
        this.archived = row.archived !== null;
        this.hasChain = row.chain !== null;
      } else if (part === 1) this.addChild(budgetIn(row));
      else this.addCall(row);
    } catch {
      this.unreadable = true;
      const what = part === 2 ? `call ${row.id}` : `budget ${row.id}`;
      if (part !== 1) defects.add("error", what, "has a row that cannot be read");
    }
  }

  private addChild(child: Budget): void {
    this.parts++;
    if (!child.ended) this.open++;
    this.used.addAll(child.used);
    const ids = new Set([child.limits, child.reserved, child.aside].flatMap((amounts) => Object.keys(amounts)));
    for (const id of ids) {
      const held = heldFor(child, this.dimension(id));
      if (child.funding === "held") this.reserved.add(id, held);
      else if (covers(child, id)) this.aside.add(id, held);
      else this.reserved.add(id, (child.reserved[id] ?? 0) + this.asideOf(child, id));
    }
  }

  private addCall({ id, text, more }: SqlRow): void {
    const row = { id, budget: this.owner, kind: "", status: text, expires: null, body: more } as unknown as CallRow;
    const { status, asked, charged } = readCall(row);
    this.parts++;
    this.calls++;
    this.used.addAll(charged);
    if (status !== "reserved") return;
    this.open++;
    this.reserved.addAll(asked);
  }

  compare(defects: Defects, extensions: Extensions): void {
    const { budget, owner } = this;
    const wrong = (problem: string) => defects.add("error", `budget ${owner}`, problem);
    if (budget === null) {
      if (!this.unreadable) wrong(`is not there, but ${this.parts} calls or children of it are`);
      return;
    }
    if (!this.hasChain) wrong("writes to a chain that is not there");
    if (this.unreadable) return;
    const ids = new Set([budget.used, budget.reserved].flatMap((amounts) => Object.keys(amounts)));
    for (const id of [...this.used.ids(), ...this.reserved.ids()]) ids.add(id);
    for (const id of ids) {
      this.compareUsed(id, budget, wrong);
      this.compareReserved(id, budget, wrong);
    }
    for (const id of new Set([...Object.keys(budget.aside), ...this.aside.ids()])) this.compareAside(id, budget, wrong);
    if (budget.open !== this.open) {
      wrong(`says that ${budget.open} calls and children are open, but there are ${this.open}`);
    }
    if (this.archived) return;
    for (const { id, stated, recorded } of extensions.differences(owner, budget.extended)) {
      wrong(`was extended by ${this.show(id, stated)}, but its chain records ${this.show(id, recorded)}`);
    }
  }

  /** Calls of an archived chain are gone, so of their budgets only a lower bound is known. A late peak may have been lower. */
  private compareUsed(id: string, budget: Budget, wrong: (problem: string) => void): void {
    const kind = this.kindOf(id);
    if (kind === "clock") return;
    const used = budget.used[id] ?? 0;
    const sum = this.used.sum(id);
    const most = this.used.most(id);
    const adds = this.archived ? used >= sum : used === sum;
    const fits = kind === "peak" ? used >= most : adds || (kind === null && used >= most);
    if (fits) return;
    const parts = this.archived ? "its children alone" : "its calls and children";
    const total = kind === "peak" ? `reach ${this.show(id, most)}` : `add up to ${this.show(id, sum)}`;
    wrong(`has used ${this.show(id, used)}, but ${parts} ${total}`);
  }

  private compareReserved(id: string, budget: Budget, wrong: (problem: string) => void): void {
    const kind = this.kindOf(id);
    const reserved = budget.reserved[id] ?? 0;
    const held = kind === "sum" || kind === null ? this.reserved.sum(id) : 0;
    if (reserved === held || (kind === null && reserved === 0)) return;
    wrong(`holds ${this.show(id, reserved)}, but its calls and children need ${this.show(id, held)}`);
  }

  private compareAside(id: string, budget: Budget, wrong: (problem: string) => void): void {
    const kind = this.kindOf(id);
    const aside = budget.aside[id] ?? 0;
    if ((kind !== "sum" && kind !== null) || aside === this.aside.sum(id)) return;
    wrong(
      `has set ${this.show(id, aside)} aside, but its wrap-up reserve has ${this.show(id, this.aside.sum(id))} left`,
    );
  }

  /** What is set aside of a clock is held nowhere. */
  private asideOf(child: Budget, id: string): number {
    return this.kindOf(id) === "clock" ? 0 : (child.aside[id] ?? 0);
  }

  /** Null for a dimension of the user's own that nobody has named here: it may be a sum or a peak. */
  private kindOf(id: string): Dimension["kind"] | null {
    return this.dimensions.has(id) ? this.dimensions.get(id).kind : null;
  }

  private dimension(id: string): Dimension {
    return this.dimensions.has(id) ? this.dimensions.get(id) : ({ id, kind: "sum" } as Dimension);
  }

  private show(id: string, value: number): string {
    return this.dimensions.has(id) ? `${printAmount(this.dimensions.get(id), value)} (${id})` : `${value} ${id}`;
  }
}

function budgetIn({ id, ended, text, more }: SqlRow): Budget {
  const row = { id: String(id), parent: null, chain: "", origin: "", terms: String(text), state: String(more) };
  const { budget } = readAccount({ ...row, ended: Number(ended) }, NO_READING);
  for (const amounts of [budget.limits, budget.used, budget.reserved, budget.aside, budget.extended]) {
    if (typeof amounts !== "object" || amounts === null) throw new TypeError("amounts are missing");
  }
  return budget;
}

/** Sums and peaks by dimension. */
class Figures {
  private readonly sums = new Map<string, number>();
  private readonly peaks = new Map<string, number>();

  add(id: string, value: number): void {
    this.sums.set(id, (this.sums.get(id) ?? 0) + value);
    this.peaks.set(id, Math.max(this.peaks.get(id) ?? 0, value));
  }

  addAll(amounts: Amounts): void {
    for (const [id, value] of Object.entries(amounts)) this.add(id, value);
  }

  ids(): Iterable<string> {
    return this.sums.keys();
  }

  sum(id: string): number {
    return this.sums.get(id) ?? 0;
  }

  most(id: string): number {
    return this.peaks.get(id) ?? 0;
  }
}
