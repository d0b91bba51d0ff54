import type { Budget } from "../../../core/budget.js";
import type { Call } from "../../../core/call.js";
import { printAmount } from "../../../core/dimension.js";
import type { Dimensions } from "../../../core/dimensions.js";
import { type CallRow, readCall } from "../rows.js";
import { budgetIn, chargeOf, type Figures, hasCharge, written } from "./books.js";
import type { Defects, Difference } from "./defect.js";
import type { Sql } from "./port.js";
import { positionOf, standingsAt } from "./positions.js";
import type { ForeignNotice, OpenCall, RebuiltBudget, RebuiltChain } from "./rebuilt-chain.js";
import type { SetDigest } from "./set-digest.js";

/** A row of a budget, as it is compared. */
export interface StoredBudget {
  readonly budget: Budget;
  readonly parent: string | null;
  /** When its clock was started, by its row; null when it stands still. */
  readonly since: number | null;
}

/** What the rows of a budget's own calls come to. */
export interface StoredCalls {
  readonly reserved: readonly Call[];
  readonly charges: SetDigest;
  readonly asks: SetDigest;
  readonly charged: number;
}

/** What other chains tell of a dimension of a budget. */
interface Told {
  readonly exhausted: boolean;
  readonly warnings: number;
}

interface Suspect {
  readonly exhausted: readonly string[];
  readonly warned: Readonly<Record<string, number>>;
  readonly rebuilt: Pick<RebuiltBudget, "exhausted" | "warned" | "extended">;
}

/** A clock that the machine has set, or its sleep, moves the start of a running time that is shown; more than that is told. */
const SAME_START_MS = 60_000;
/** In so many budgets the rows of calls are looked through one by one. */
const MOST_SEARCHED = 20;
const MOST_NAMED = 50;

/** Collects where a store and its chains say different things of a budget, and tells each with both values. */
export class Differences {
  private readonly dimensions: Dimensions;
  private defects: Defects;
  /** What a chain says was used beyond what the store says, by budget and dimension, without what is below it. */
  private readonly used = new Map<string, Map<string, number>>();
  private readonly suspects = new Map<string, Suspect>();
  private readonly foreign = new Map<string, Map<string, Told>>();
  private readonly searched: string[] = [];
  /** Whether there are chains whose links are not here, so that a notice may stand in one of them. */
  isSomethingAway: boolean;
  private readonly isAlone: boolean;

  /** With `isAlone`, nothing is known of the budgets above and below, so that each speaks for itself. */
  constructor(dimensions: Dimensions, defects: Defects, isAlone = false) {
    this.dimensions = dimensions;
    this.defects = defects;
    this.isAlone = isAlone;
    this.isSomethingAway = isAlone;
  }

  /** From now on, differences are told here. */
  reportTo(defects: Defects): void {
    this.defects = defects;
  }

  /** `below` is what the rows of its children say that they have used. */
  compare(stored: StoredBudget, rebuilt: RebuiltBudget, below: Figures): void {
    const { budget, since } = stored;
    const { id } = budget;
    for (const { id: dimension, kind } of this.dimensions.all) {
      if (kind === "sum" && rebuilt.isUsageKnown) this.compareSum(dimension, stored, rebuilt, below);
      if (kind !== "peak") continue;
      const used = budget.used[dimension] ?? 0;
      const peak = Math.max(rebuilt.peaks.get(dimension) ?? 0, below.most(dimension));
      if (peak !== used) this.tell(id, `used.${dimension}`, used, peak, dimension);
    }
    for (const dimension of new Set([...Object.keys(budget.extended), ...rebuilt.extended.keys()])) {
      const extended = budget.extended[dimension] ?? 0;
      const recorded = rebuilt.extended.get(dimension) ?? 0;
      if (extended === recorded || !this.dimensions.has(dimension)) continue;
      this.tell(id, `extended.${dimension}`, extended, recorded, dimension);
    }
    if (budget.ended !== rebuilt.isEnded) this.tell(id, "ended", budget.ended, rebuilt.isEnded);
    this.compareClock(budget, since, rebuilt);
    this.compareNotices(budget, rebuilt);
  }

  private compareSum(
    dimension: string,
    { budget, parent }: StoredBudget,
    rebuilt: RebuiltBudget,
    below: Figures,
  ): void {
    const { id } = budget;
    const used = budget.used[dimension] ?? 0;
    this.addUsed(id, dimension, (rebuilt.used.get(dimension) ?? 0) + below.sum(dimension) - used);
    if (parent === rebuilt.parent || this.isAlone) return;
    // What a detached child has used is still its parent's.
    if (rebuilt.parent !== null) this.addUsed(rebuilt.parent, dimension, used);
    if (parent !== null) this.addUsed(parent, dimension, -used);
  }

  compareCalls(budget: string, rebuilt: RebuiltBudget, stored: StoredCalls): void {
    const { open } = rebuilt;
    if (rebuilt.isExact) this.compareOpen(budget, rebuilt, stored.reserved);
    else if (open.size > stored.reserved.length) this.tell(budget, "open calls", stored.reserved.length, open.size);
    if (!rebuilt.isUsageKnown) return;
    if (stored.charged !== rebuilt.charged) this.tell(budget, "charged calls", stored.charged, rebuilt.charged);
    const wrong = (problem: string) => this.defects.add("error", `budget ${budget}`, problem);
    if (!stored.charges.equals(rebuilt.charges)) {
      wrong("has calls whose rows are not what its chain records");
      if (this.searched.length < MOST_SEARCHED) this.searched.push(budget);
    } else if (rebuilt.areAsksKnown && !stored.asks.equals(rebuilt.asks)) {
      wrong(
        "has settled calls whose rows say another kind, step, capability, status or amount asked for than its chain",
      );
    }
  }

  compareOpen(budget: string, { open }: RebuiltBudget, reserved: readonly Call[]): void {
    const wrong = (call: string, problem: string) => this.defects.add("error", `call ${call}`, problem);
    const held = new Set(reserved.map(({ id }) => id));
    for (const call of open.keys()) {
      if (!held.has(call)) wrong(call, `is open by the chain of budget ${budget}, but the store holds nothing for it`);
    }
    for (const call of reserved) {
      const recorded = open.get(call.id);
      if (recorded === undefined) wrong(call.id, `is held in the store, but by the chain of ${budget} it is not open`);
      else this.compareHeld(call, recorded, wrong);
    }
  }

  /** A budget that a chain records, and of which there is no row. */
  missing(rebuilt: RebuiltBudget, chain: string): void {
    this.defects.add("error", `budget ${rebuilt.id}`, `is not there, but the chain ${chain} records its opening`);
    for (const [dimension, amount] of rebuilt.used) {
      if (this.dimensions.has(dimension)) this.addUsed(rebuilt.id, dimension, amount);
    }
  }

  /** A notice of a budget that stands in the chain of one below it. */
  hear({ budget, dimension, kind }: ForeignNotice): void {
    const notices = this.foreign.get(budget) ?? new Map<string, Told>();
    const { exhausted, warnings } = notices.get(dimension) ?? { exhausted: false, warnings: 0 };
    const isWarning = kind === "Warning";
    notices.set(dimension, { exhausted: exhausted || !isWarning, warnings: warnings + (isWarning ? 1 : 0) });
    this.foreign.set(budget, notices);
  }

  /** Tells what can be told only when all chains were read. */
  async finish(sql: Sql, chain: RebuiltChain): Promise<void> {
    await this.tellUsed(sql);
    for (const [id, suspect] of this.suspects) this.tellNotices(id, suspect);
    for (const [id, notices] of this.foreign) {
      if (this.suspects.has(id)) continue;
      const stored = await this.read(sql, id);
      if (stored === null) continue;
      for (const [dimension, { exhausted }] of notices) {
        const isLifted = (stored.extended[dimension] ?? 0) > 0;
        if (!exhausted || isLifted || stored.exhausted.includes(dimension)) continue;
        this.tell(id, "exhausted", stored.exhausted, [...stored.exhausted, dimension]);
      }
    }
    for (const budget of this.searched) await this.search(sql, budget, chain);
  }

  private compareHeld(call: Call, recorded: OpenCall, wrong: (call: string, problem: string) => void): void {
    const asked = written(call.asked, this.dimensions);
    for (const id of new Set([...Object.keys(asked), ...Object.keys(recorded.asked)])) {
      if (!this.dimensions.has(id) || (asked[id] ?? 0) === (recorded.asked[id] ?? 0)) continue;
      wrong(call.id, `holds ${asked[id] ?? 0} ${id} in the store, ${recorded.asked[id] ?? 0} by its chain`);
    }
    for (const field of ["kind", "step_id", "capability_id"] as const) {
      if (call[field] === recorded[field]) continue;
      wrong(call.id, `says ${show(call[field])} for ${field}, its chain ${show(recorded[field])}`);
    }
  }

  private compareClock({ id, watch }: Budget, since: number | null, rebuilt: RebuiltBudget): void {
    if ((since !== null) !== rebuilt.isRunning) this.tell(id, "clock running", since !== null, rebuilt.isRunning);
    const { elapsed } = rebuilt;
    if (elapsed !== null && Math.floor(watch.elapsed) !== elapsed) this.tell(id, "elapsed", watch.elapsed, elapsed);
    if (since === null || !rebuilt.isRunning || since - rebuilt.startedAt <= SAME_START_MS) return;
    const [row, link] = [since, rebuilt.startedAt].map((instant) => new Date(instant).toISOString());
    const problem = `its clock was started at ${row} by its row, at ${link} by its chain`;
    const advice = "nothing, if the machine slept or its clock was set meanwhile; else its running time was changed";
    this.defects.add("warning", `budget ${id}`, problem, advice);
  }

  private compareNotices({ id, exhausted, warned }: Budget, rebuilt: RebuiltBudget): void {
    const isSame =
      exhausted.length === rebuilt.exhausted.size &&
      exhausted.every((dimension) => rebuilt.exhausted.has(dimension)) &&
      [...new Set([...Object.keys(warned), ...rebuilt.warned.keys()])].every((dimension) => {
        const { total, since } = rebuilt.warned.get(dimension) ?? { total: 0, since: 0 };
        const stored = warned[dimension] ?? 0;
        return stored >= since && stored <= total;
      });
    if (isSame) return;
    const figures = { exhausted: rebuilt.exhausted, warned: rebuilt.warned, extended: rebuilt.extended };
    this.suspects.set(id, { exhausted, warned, rebuilt: figures });
  }

  /** Its own chain alone does not explain them; those of the budgets below may. */
  private tellNotices(id: string, suspect: Suspect): void {
    const elsewhere = this.foreign.get(id) ?? new Map<string, Told>();
    this.tellExhausted(id, suspect, elsewhere);
    const { warned, rebuilt } = suspect;
    for (const dimension of new Set([...Object.keys(warned), ...rebuilt.warned.keys(), ...elsewhere.keys()])) {
      const own = rebuilt.warned.get(dimension) ?? { total: 0, since: 0 };
      const more = elsewhere.get(dimension)?.warnings ?? 0;
      const stored = warned[dimension] ?? 0;
      const least = rebuilt.extended.has(dimension) ? own.since : own.total + more;
      const most = this.isSomethingAway ? Number.POSITIVE_INFINITY : own.total + more;
      if (stored < least || stored > most) this.tell(id, `warned.${dimension}`, stored, stored < least ? least : most);
    }
  }

  private tellExhausted(id: string, { exhausted, rebuilt }: Suspect, elsewhere: ReadonlyMap<string, Told>): void {
    const gone = new Set([...rebuilt.exhausted].filter((dimension) => !exhausted.includes(dimension)));
    for (const [dimension, told] of elsewhere) {
      if (told.exhausted && !rebuilt.extended.has(dimension) && !exhausted.includes(dimension)) gone.add(dimension);
    }
    const isTold = (each: string) => rebuilt.exhausted.has(each) || elsewhere.get(each)?.exhausted === true;
    const told = this.isSomethingAway ? exhausted : exhausted.filter(isTold);
    if (gone.size > 0 || told.length < exhausted.length) this.tell(id, "exhausted", exhausted, [...told, ...gone]);
  }

  private addUsed(budget: string, dimension: string, amount: number): void {
    if (amount === 0) return;
    const amounts = this.used.get(budget) ?? new Map<string, number>();
    amounts.set(dimension, (amounts.get(dimension) ?? 0) + amount);
    this.used.set(budget, amounts);
  }

  private async tellUsed(sql: Sql): Promise<void> {
    for (const [id, total] of await this.totals(sql)) {
      const stored = await this.read(sql, id);
      if (stored === null) continue;
      for (const [dimension, amount] of total) {
        const used = stored.used[dimension] ?? 0;
        if (amount !== 0) this.tell(id, `used.${dimension}`, used, used + amount, dimension);
      }
    }
  }

  /** What a budget has used is also what all above it have used. */
  private async totals(sql: Sql): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
    const totals = new Map<string, Map<string, number>>();
    for (const [budget, amounts] of this.used) {
      if ([...amounts.values()].every((amount) => amount === 0)) continue;
      const seen = new Set<string>();
      for (let id: string | null = budget; id !== null && !seen.has(id); id = await parentOf(sql, id)) {
        seen.add(id);
        const total = totals.get(id) ?? new Map<string, number>();
        for (const [dimension, amount] of amounts) total.set(dimension, (total.get(dimension) ?? 0) + amount);
        totals.set(id, total);
        if (this.isAlone) break;
      }
    }
    return totals;
  }

  /** Names the calls whose rows say something else than the links they point to. */
  private async search(sql: Sql, budget: string, chain: RebuiltChain): Promise<void> {
    const { dimensions } = this;
    const calls = async function* () {
      for await (const row of sql.rows("SELECT * FROM calls WHERE budget = $1 ORDER BY id", [budget])) {
        const call = readCall(row as unknown as CallRow);
        const position = positionOf(call.link);
        if (position !== null && call.kind !== "charge" && hasCharge(call)) yield { ...position, call };
      }
    };
    let named = 0;
    for await (const { wanted, line } of standingsAt(sql, calls())) {
      if (named >= MOST_NAMED) return;
      const recorded = line === null ? null : chain.chargeIn(line);
      if (recorded === chargeOf(chain, wanted.call, dimensions)) continue;
      named++;
      const problem =
        recorded === null
          ? `names a link that does not say what it was charged (${wanted.call.link})`
          : `says ${chargeOf(chain, wanted.call, dimensions)}, but its link ${recorded}`;
      this.defects.add("error", `call ${wanted.call.id}`, problem);
    }
  }

  private async read(sql: Sql, id: string): Promise<Budget | null> {
    const text = "SELECT id, ended, terms AS text, state AS more FROM accounts WHERE id = $1";
    const [row] = await sql.all(text, [id]);
    try {
      return row === undefined ? null : budgetIn(row);
    } catch {
      return null;
    }
  }

  private tell(
    budget: string,
    field: string,
    store: Difference["store"],
    chain: Difference["chain"],
    dimension?: string,
  ): void {
    const known = dimension !== undefined && this.dimensions.has(dimension) ? this.dimensions.get(dimension) : null;
    const shown = (value: Difference["store"]) =>
      known !== null && typeof value === "number" ? printAmount(known, value) : show(value);
    const problem = `${field} is ${shown(store)} in the store, ${shown(chain)} by its chain`;
    this.defects.add("error", `budget ${budget}`, problem, undefined, { budget, field, store, chain });
  }
}

async function parentOf(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql.all("SELECT parent FROM budgets WHERE id = $1", [id]);
  return row === undefined || row.parent === null ? null : String(row.parent);
}

function show(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
