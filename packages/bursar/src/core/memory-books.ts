import { type Account, type Books, pathOf } from "./books.js";
import type { Budget, BudgetId, Path } from "./budget.js";
import type { Call, CallId } from "./call.js";
import { appendLink, emptyHead, type Head } from "./chain/link.js";
import type { Action } from "./events.js";

interface Chain {
  head: Head;
  readonly lines: string[];
}

interface Pages {
  readonly accounts: Map<BudgetId, Account>;
  readonly calls: Map<CallId, Call>;
  readonly chains: Map<string, Chain>;
}

/** Books kept in memory, written all or nothing. */
export class MemoryBooks {
  private readonly kept: Pages = { accounts: new Map(), calls: new Map(), chains: new Map() };
  /** Reservations that have an instant to be settled at. */
  private readonly expiring = new Set<CallId>();
  private readonly hash: (text: string) => string;

  constructor(hash: (text: string) => string) {
    this.hash = hash;
  }

  /** Hands out books to write in. When `work` throws, nothing was written. */
  transact<Result>(instant: number, work: (books: Books) => Result): Result {
    const draft = new Draft(this.kept, this.expiring, this.hash, instant);
    const result = work(draft);
    this.keep(draft.pages);
    return result;
  }

  budget(id: BudgetId): Budget | null {
    return this.kept.accounts.get(id)?.budget ?? null;
  }

  path(id: BudgetId): Path {
    const { accounts } = this.kept;
    return accounts.has(id) ? pathOf({ account: (each) => accounts.get(each) }, id) : [];
  }

  lines(chain: string): readonly string[] {
    return this.kept.chains.get(chain)?.lines ?? [];
  }

  head(chain: string): Head | null {
    return this.kept.chains.get(chain)?.head ?? null;
  }

  private keep({ accounts, calls, chains }: Pages): void {
    for (const [id, account] of accounts) this.kept.accounts.set(id, account);
    for (const [id, call] of calls) {
      this.kept.calls.set(id, call);
      if (call.status === "reserved" && call.expires !== null) this.expiring.add(id);
      else this.expiring.delete(id);
    }
    for (const [id, written] of chains) {
      const chain = this.kept.chains.get(id);
      if (chain === undefined) this.kept.chains.set(id, written);
      else {
        chain.head = written.head;
        for (const line of written.lines) chain.lines.push(line);
      }
    }
  }
}

/** What has been written so far, over what was kept before. */
class Draft implements Books {
  readonly pages: Pages = { accounts: new Map(), calls: new Map(), chains: new Map() };
  private readonly kept: Pages;
  private readonly expiring: ReadonlySet<CallId>;
  private readonly hash: (text: string) => string;
  private readonly instant: number;

  constructor(kept: Pages, expiring: ReadonlySet<CallId>, hash: (text: string) => string, instant: number) {
    this.kept = kept;
    this.expiring = expiring;
    this.hash = hash;
    this.instant = instant;
  }

  account(id: BudgetId): Account | undefined {
    return this.pages.accounts.get(id) ?? this.kept.accounts.get(id);
  }

  putAccount(account: Account): void {
    this.pages.accounts.set(account.budget.id, account);
  }

  call(id: CallId): Call | undefined {
    return this.pages.calls.get(id) ?? this.kept.calls.get(id);
  }

  putCall(call: Call): void {
    this.pages.calls.set(call.id, call);
  }

  due(instant: number): readonly Call[] {
    const due: Call[] = [];
    const look = (id: CallId) => {
      const call = this.call(id);
      if (call?.status === "reserved" && call.expires !== null && call.expires <= instant) due.push(call);
    };
    for (const id of this.expiring) look(id);
    for (const id of this.pages.calls.keys()) if (!this.expiring.has(id)) look(id);
    return due;
  }

  append(id: string, action: Action, cause: string | null): string {
    const written = this.pages.chains.get(id);
    const head = written?.head ?? this.kept.chains.get(id)?.head ?? emptyHead(id);
    const next = appendLink(head, { ...action, at: this.instant, cause }, this.hash);
    if (written === undefined) this.pages.chains.set(id, { head: next.head, lines: [next.line] });
    else {
      written.head = next.head;
      written.lines.push(next.line);
    }
    return next.link.id;
  }
}
