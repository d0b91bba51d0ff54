import { randomBytes } from "node:crypto";
import { claimedHash, hashedText } from "../../../core/chain/line.js";
import { parseLine } from "../../../core/chain/link.js";
import { ZERO_HASH } from "../../../core/chain/rules.js";
import type { Dimensions } from "../../../core/dimensions.js";
import { sha256Hex } from "../../../runtime/crypto.js";
import { SERVER_CHAIN } from "../../../runtime/server-chain.js";
import type { CheckedSample, SampledDefect } from "../../../runtime/sweeper.js";
import { type CallRow, readCall } from "../rows.js";
import { budgetIn, Figures, unreadable } from "./books.js";
import { linesOf } from "./books-check.js";
import { Defects } from "./defect.js";
import { Differences } from "./differences.js";
import { openingProblem } from "./origins.js";
import type { Engine, Sql } from "./port.js";
import { type RebuiltBudget, RebuiltChain } from "./rebuilt-chain.js";
import { checkSecrets } from "./secrets.js";

/** One round reads about so many links and chains, and so many children of a budget at most. */
const LINKS = 1000;
const CHAINS = 50;
const CHILDREN = 5000;
/** Of a chain that takes several rounds, each reads twice as much as the one before, so that it is caught up with. */
const MOST_LINKS = 64_000;
const ROWS = 20;
/** After so many, the rest of the process gets a turn. */
const LINKS_AT_ONCE = 100;
const BUDGETS_AT_ONCE = 10;

/** A chain that is being read, and how far. */
interface Place {
  readonly name: string;
  readonly chain: RebuiltChain;
  readonly differences: Differences;
  next: number;
  hash: string;
  most: number;
}

/**
 * Checks a few chains at a time, and the budgets that write to them: again and again, one after the other, so that each has its turn.
 * It finds what a whole check finds of a budget's own figures; rows of calls that were settled, and what belongs to no chain, are left
 * to the whole check.
 */
export class SampledCheck {
  private readonly engine: Engine;
  private readonly dimensions: Dimensions;
  private defects = new Defects();
  private last = "";
  private place: Place | null = null;
  private budgets = 0;

  constructor(engine: Engine, dimensions: Dimensions) {
    this.engine = engine;
    this.dimensions = dimensions;
  }

  /** The next part. All that is compared is of one moment. */
  async next(): Promise<CheckedSample> {
    this.defects = new Defects();
    this.budgets = 0;
    const isRound = await this.engine.reading((sql) => this.read(sql));
    const defects: SampledDefect[] = this.defects.listed
      .filter(({ severity }) => severity === "error")
      .map(({ where, problem }) => ({ where, problem }));
    return { budgets: this.budgets, defects, isRound };
  }

  /** Gives back whether all chains have had their turn. */
  private async read(sql: Sql): Promise<boolean> {
    let left = LINKS;
    for (let chains = 0; chains < CHAINS && left > 0; chains++) {
      this.place ??= await this.nextPlace(sql);
      const { place } = this;
      if (place === null) return true;
      left -= await this.readOn(sql, place);
      await othersTurn();
    }
    return false;
  }

  private async nextPlace(sql: Sql): Promise<Place | null> {
    const text = "SELECT chain FROM heads WHERE chain > $1 AND archived IS NULL ORDER BY chain LIMIT 1";
    const [row] = await sql.all(text, [this.last]);
    this.last = row === undefined ? "" : String(row.chain);
    if (row === undefined) return null;
    const { dimensions } = this;
    const differences = new Differences(dimensions, this.defects, true);
    const salt = randomBytes(8).toString("hex");
    const foreign = differences.hear.bind(differences);
    const chain = new RebuiltChain({ dimensions, foreign, lookUp: (ids) => linesOf(this.sql ?? sql, ids) }, salt);
    return { name: this.last, chain, differences, next: 0, hash: ZERO_HASH, most: LINKS };
  }

  /** The transaction that is under way: a chain may take several. */
  private sql: Sql | null = null;

  /** Reads on in a chain, and compares it when its end is there. Gives back how many links it has read. */
  private async readOn(sql: Sql, place: Place): Promise<number> {
    this.sql = sql;
    const { name } = place;
    const [head] = await sql.all("SELECT seq, hash, archived FROM heads WHERE chain = $1", [name]);
    if (head === undefined || head.archived !== null) return this.leave(0);
    const from = place.next;
    const until = Math.min(Number(head.seq) + 1, from + place.most);
    while (place.next < until) {
      const rows = await sql.all("SELECT seq, lines FROM links WHERE chain = $1 AND seq >= $2 ORDER BY seq LIMIT $3", [
        name,
        place.next,
        ROWS,
      ]);
      const lines = rows.flatMap((row) => String(row.lines).split("\n"));
      const problem = lines.length === 0 ? `link ${place.next} is not there` : await this.follow(place, lines);
      if (problem === null) continue;
      this.defects.add("error", `chain ${name}`, problem);
      return this.leave(place.next - from + 1);
    }
    if (place.next <= Number(head.seq)) {
      place.most = Math.min(place.most * 2, MOST_LINKS);
      return place.next - from;
    }
    if (place.hash !== head.hash) this.defects.add("error", `chain ${name}`, "its last link is not its head");
    else await this.compare(sql, place);
    return this.leave(place.next - from);
  }

  private leave(read: number): number {
    this.place = null;
    return read;
  }

  /** Takes the lines that follow; gives back what is wrong with the first bad one. */
  private async follow(place: Place, lines: readonly string[]): Promise<string | null> {
    for (const line of lines) {
      const hash = claimedHash(line);
      try {
        const { seq, prev, chain } = parseLine(line);
        if (seq !== place.next || prev !== place.hash || chain !== place.name)
          return `link ${place.next} does not follow`;
      } catch {
        return `link ${place.next} cannot be read`;
      }
      if (sha256Hex(hashedText(line)) !== hash) return `link ${place.next}: its content does not match its hash`;
      place.chain.take(line);
      if (place.chain.isBehind) await place.chain.settle();
      place.next++;
      place.hash = hash;
      if (place.next % LINKS_AT_ONCE === 0) await othersTurn();
    }
    return null;
  }

  private async compare(sql: Sql, { name, chain, differences }: Place): Promise<void> {
    await chain.settle();
    differences.reportTo(this.defects);
    for (const rebuilt of chain.budgets.values()) {
      await this.compareBudget(sql, name, rebuilt, differences);
      if (this.budgets % BUDGETS_AT_ONCE === 0) await othersTurn();
    }
    await differences.finish(sql, chain);
    if (name === SERVER_CHAIN) await checkSecrets(sql, this.defects, chain);
  }

  private async compareBudget(
    sql: Sql,
    chain: string,
    rebuilt: RebuiltBudget,
    differences: Differences,
  ): Promise<void> {
    const { id } = rebuilt;
    const where = `budget ${id}`;
    this.budgets++;
    const columns = "id, parent, terms, ended, terms AS text, state AS more";
    const [row] = await sql.all(`SELECT ${columns} FROM accounts WHERE id = $1`, [id]);
    if (row === undefined) return differences.missing(rebuilt, chain);
    const problem = openingProblem(rebuilt.opening, row, this.dimensions);
    if (problem !== null) this.defects.add("error", where, `the link that recorded its opening ${problem}`);
    try {
      const budget = budgetIn(row);
      const children = await sql.all(
        `SELECT id, ended, terms AS text, state AS more FROM accounts WHERE parent = $1 LIMIT ${CHILDREN + 1}`,
        [id],
      );
      // The children of some budgets are too many to be added up in between.
      if (children.length > CHILDREN) rebuilt.isUsageKnown = false;
      const below = new Figures();
      for (const child of children) below.addAll(budgetIn(child).used);
      const parent = row.parent === null ? null : String(row.parent);
      const since = JSON.parse(String(row.more)).since?.instant ?? null;
      if (children.length <= CHILDREN) differences.compare({ budget, parent, since }, rebuilt, below);
    } catch (error) {
      this.defects.add("error", where, unreadable(error));
    }
    if (!rebuilt.isExact) return;
    const reserved = [];
    for (const call of rebuilt.open.keys()) {
      const [found] = await sql.all("SELECT * FROM calls WHERE id = $1 AND status = 'reserved'", [call]);
      if (found !== undefined) reserved.push(readCall(found as unknown as CallRow));
    }
    differences.compareOpen(id, rebuilt, reserved);
  }
}

/** Reading a file and hashing its lines are synchronous, so the rest of the process gets a turn in between. */
function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
