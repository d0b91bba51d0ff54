import { randomUUID } from "node:crypto";
import { Operations } from "../../core/apply.js";
import type { Books } from "../../core/books.js";
import type { CallId } from "../../core/call.js";
import type { Head } from "../../core/chain/link.js";
import type { Dimensions } from "../../core/dimensions.js";
import { type Changes, Draft, keyOf } from "../../core/draft.js";
import type { Operation, Outcome } from "../../core/operation.js";
import { sha256Hex } from "../../runtime/crypto.js";
import { reach } from "../durable/points.js";
import type { Reading } from "../durable/rows.js";
import type { Mirror, Read, Wanted } from "./mirror.js";
import type { Asking } from "./pool.js";
import { Unread, View } from "./view.js";

/** One caller's list of operations. */
export interface Request {
  readonly operations: readonly Operation[];
  /** Those up to the first that cannot be used: only these may be looked into before they are decided. */
  readonly sound: readonly Operation[];
  readonly reading: Reading;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What a batch will do, if what it is based on still holds. */
export interface Plan {
  readonly view: View;
  readonly changes: Changes;
  readonly reading: Reading;
  readonly answers: readonly Answer[];
  /** Written along with it where nothing else would tell whose work it was. */
  readonly token: string | null;
}

type Answer = { readonly outcomes: readonly Outcome[] } | { readonly error: unknown };

/** What `expire` and `anchor` work on is found by looking, not by name. */
interface Found {
  readonly expiring: readonly CallId[];
  readonly grown: readonly Head[];
}

const MOST_FOUND = 1000;
/** What names a dimension that we do not know is somebody else's to settle, and must not fill up the limit for ever. */
const EXPIRING = `SELECT id FROM calls WHERE status = 'reserved' AND expires <= $1
  AND NOT EXISTS (
    SELECT 1 FROM json_object_keys(body::json->'asked') AS asked (name) WHERE NOT ($2::text::jsonb ? asked.name)
  )
  ORDER BY expires, id LIMIT ${MOST_FOUND}`;
const GROWN = `SELECT chain, seq, hash FROM heads WHERE grown = 1 ORDER BY chain LIMIT ${MOST_FOUND}`;
/** Nobody asks any more what became of a plan of an hour ago. */
const FORGET_PLANS = "DELETE FROM plans WHERE at < now() - interval '1 hour'";

/** Decides batches of lists on a mirror of the tables. */
export class Planner {
  private readonly operations: Operations;
  private readonly dimensions: string;

  constructor(dimensions: Dimensions) {
    this.operations = new Operations(dimensions);
    this.dimensions = JSON.stringify(dimensions.all.map(({ id }) => id));
  }

  /** Decides on the mirror, and reads what is missing there as often as something is. */
  async plan(batch: readonly Request[], mirror: Mirror, server: Asking): Promise<Plan> {
    const found = await this.look(batch, mirror, server);
    for (;;) {
      try {
        const plan = this.decide(batch, mirror, found);
        reach("decided");
        return plan;
      } catch (error) {
        if (!(error instanceof Unread)) throw error;
        const { reading } = batch.at(-1) as Request;
        await learn(wantedBy(batch, mirror, found, error.wanted), mirror, server, reading);
      }
    }
  }

  private decide(batch: readonly Request[], mirror: Mirror, { expiring, grown }: Found): Plan {
    const view = new View(mirror, expiring, grown);
    const { reading } = batch.at(-1) as Request;
    const group = new Draft(view, sha256Hex, reading.instant);
    for (const { sound } of batch) view.expect(sound);
    const answers = batch.map((request): Answer => {
      const { operations, reading: time } = request;
      try {
        const apply = (books: Books) => operations.map((each) => this.operations.applyChecked(books, each, time));
        return { outcomes: group.within(time.instant, apply) };
      } catch (error) {
        if (error instanceof Unread) throw error;
        return { error };
      }
    });
    const { changes } = group;
    const bare = changes.entries.size > 0 && changes.chains.size === 0;
    const token = changes.documents.size > 0 || bare ? randomUUID() : null;
    return { view, changes, reading, answers, token };
  }

  private async look(batch: readonly Request[], mirror: Mirror, server: Asking): Promise<Found> {
    const asks = (op: Operation["op"]) => batch.find(({ sound }) => sound.some((each) => each.op === op));
    const expire = asks("expire");
    let expiring: readonly CallId[] = [];
    if (expire !== undefined) {
      const rows = await server.ask(EXPIRING, [expire.reading.instant, this.dimensions]);
      expiring = rows.map(({ id }) => id as CallId);
      await server.ask(FORGET_PLANS);
    }
    const grown = asks("anchor") === undefined ? [] : ((await server.ask(GROWN)) as unknown as readonly Head[]);
    for (const { chain, seq, hash } of grown) {
      // Others may have written since the mirror last saw the chain: to anchor an old head again would say nothing new.
      const known = mirror.heads.get(chain);
      if (known === undefined || known.version < seq || known.value === null) {
        mirror.heads.set(chain, { value: { chain, seq, hash }, version: seq });
      }
    }
    return { expiring, grown };
  }
}

/** Reads rows, and puts what they say into a mirror. */
export async function learn(wanted: Wanted, mirror: Mirror, server: Asking, reading: Reading): Promise<void> {
  const [row] = await server.ask("SELECT bursar_read($1::text::jsonb) AS now", [JSON.stringify(wanted)]);
  mirror.learn(wanted, row?.now as Read, reading);
}

/** Everything a batch names and the mirror does not know, so that one look is enough. */
function wantedBy(batch: readonly Request[], mirror: Mirror, { expiring, grown }: Found, first: Wanted): Wanted {
  const budgets = new Set(first.budgets);
  const calls = new Set([...first.calls, ...expiring]);
  const heads = new Set([...first.heads, ...grown.map(({ chain }) => chain)]);
  const documents = new Map(first.documents.map((each) => [keyOf(each.kind, each.id), each]));
  for (const operation of batch.flatMap(({ sound }) => sound)) {
    if ("budget" in operation && operation.budget !== null) budgets.add(operation.budget);
    if (operation.op === "commit" || operation.op === "release") calls.add(operation.call);
    if (operation.op === "put") documents.set(keyOf(operation.kind, operation.id), operation);
  }
  return {
    ...first,
    budgets: [...budgets].filter((id) => mirror.accounts.get(id) === undefined),
    calls: [...calls].filter((id) => mirror.calls.get(id) === undefined),
    heads: [...heads].filter((chain) => mirror.heads.get(chain) === undefined),
    documents: [...documents]
      .filter(([name]) => mirror.documents.get(name) === undefined)
      .map(([, { kind, id }]) => ({ kind, id })),
  };
}
