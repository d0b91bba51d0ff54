import type { Account, Shelf } from "../../core/books.js";
import type { BudgetId } from "../../core/budget.js";
import type { Call, CallId } from "../../core/call.js";
import type { Head } from "../../core/chain/link.js";
import type { Document, DocumentKind, Entry } from "../../core/document.js";
import { isDue, keyOf } from "../../core/draft.js";
import type { Operation } from "../../core/operation.js";
import type { Bounded } from "../durable/bounded.js";
import type { Mirror, Seen, Wanted } from "./mirror.js";

/** Thrown by a view for what the mirror does not know yet. It says what has to be read first. */
export class Unread extends Error {
  readonly wanted: Wanted;

  constructor(wanted: Partial<Wanted>) {
    super("not read yet");
    this.wanted = { budgets: [], calls: [], heads: [], documents: [], entries: [], ...wanted };
  }
}

/** One transaction's look at the mirror. It remembers what it has seen: the decision stands only if that still holds. */
export class View implements Shelf {
  readonly accounts: Map<BudgetId, Seen<Account>> = new Map();
  readonly calls: Map<CallId, Seen<Call>> = new Map();
  readonly heads: Map<string, Seen<Head>> = new Map();
  readonly documents: Map<string, Seen<Document>> = new Map();
  readonly entries: Map<string, Seen<Entry>> = new Map();
  private readonly mirror: Mirror;
  private readonly expiring: readonly CallId[];
  private readonly grown: readonly Head[];

  constructor(mirror: Mirror, expiring: readonly CallId[], grown: readonly Head[]) {
    this.mirror = mirror;
    this.expiring = expiring;
    this.grown = grown;
  }

  /**
   * Takes for absent what a list of operations makes anew, unless it is known. The server is asked whether that is so together
   * with everything else, so a new call costs no round trip of its own.
   */
  expect(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (operation.op === "reserve" || operation.op === "charge") {
        assume(this.calls, this.mirror.calls, operation.call);
      } else if (operation.op === "open") {
        assume(this.accounts, this.mirror.accounts, operation.opening.id);
        const chain = operation.chain ?? (operation.parent === null ? operation.opening.id : null);
        if (chain !== null) assume(this.heads, this.mirror.heads, chain);
      } else if (operation.op === "journal") {
        assume(this.entries, this.mirror.entries, keyOf(operation.run, operation.key));
      } else if (operation.op === "put" && operation.version === 0) {
        assume(this.documents, this.mirror.documents, keyOf(operation.kind, operation.id));
      }
    }
  }

  account(id: BudgetId): Account | undefined {
    return see(this.accounts, this.mirror.accounts, id, { budgets: [id] });
  }

  call(id: CallId): Call | undefined {
    return see(this.calls, this.mirror.calls, id, { calls: [id] });
  }

  head(chain: string): Head | undefined {
    return see(this.heads, this.mirror.heads, chain, { heads: [chain] });
  }

  document(kind: DocumentKind, id: string): Document | undefined {
    return see(this.documents, this.mirror.documents, keyOf(kind, id), { documents: [{ kind, id }] });
  }

  entry(run: string, key: string): Entry | undefined {
    return see(this.entries, this.mirror.entries, keyOf(run, key), { entries: [{ run, key }] });
  }

  due(instant: number, most: number): readonly Call[] {
    const due: Call[] = [];
    for (const id of this.expiring.slice(0, most)) {
      const call = this.call(id);
      if (call !== undefined && isDue(call, instant)) due.push(call);
    }
    return due;
  }

  unanchored(most: number): readonly Head[] {
    return this.grown.slice(0, most).flatMap(({ chain }) => this.head(chain) ?? []);
  }
}

function assume<Key, Value>(seen: Map<Key, Seen<Value>>, mirror: Bounded<Key, Seen<Value>>, key: Key): void {
  if (!seen.has(key) && mirror.get(key) === undefined) seen.set(key, ABSENT);
}

const ABSENT = Object.freeze({ value: null, version: 0 });

function see<Key, Value>(
  seen: Map<Key, Seen<Value>>,
  mirror: Bounded<Key, Seen<Value>>,
  key: Key,
  wanted: Partial<Wanted>,
): Value | undefined {
  let entry = seen.get(key);
  if (entry === undefined) {
    entry = mirror.get(key);
    if (entry === undefined) throw new Unread(wanted);
    seen.set(key, entry);
  }
  return entry.value ?? undefined;
}
