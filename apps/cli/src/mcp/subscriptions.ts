import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  ErrorCode,
  McpError,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Store } from "bursar";
import { budgetChain } from "bursar/views";
import { type Place, placeOf } from "./resources.js";

const MOST = 100;
const LOOK_MS = 1000;

/** Tells a client when a resource that it subscribed to has changed. Nothing is looked at while there is no subscription. */
export class Subscriptions implements Disposable {
  private readonly server: McpServer;
  private readonly store: Store;
  /** What was seen last; null while it is looked at for the first time, so that it has its place already. */
  private readonly seen = new Map<string, string | null>();
  private timer: NodeJS.Timeout | null = null;
  private isLooking = false;
  private isClosed = false;

  constructor(server: McpServer, store: Store) {
    this.server = server;
    this.store = store;
    server.server.registerCapabilities({ resources: { subscribe: true, listChanged: true } });
    server.server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }) => {
      await this.add(uri);
      return {};
    });
    server.server.setRequestHandler(UnsubscribeRequestSchema, async ({ params: { uri } }) => {
      this.remove(uri);
      return {};
    });
  }

  [Symbol.dispose](): void {
    this.isClosed = true;
    this.seen.clear();
    this.rest();
  }

  private async add(uri: string): Promise<void> {
    const place = placeOf(uri);
    if (place === null) {
      throw new McpError(
        ErrorCode.InvalidParams,
        `${uri.slice(0, 200)} is no resource; resources/templates/list says how they look`,
      );
    }
    if (this.isClosed) throw new McpError(ErrorCode.ConnectionClosed, "the connection is closing; connect again");
    if (this.seen.size >= MOST && !this.seen.has(uri)) {
      throw new McpError(ErrorCode.InvalidParams, `there are ${MOST} subscriptions, the most allowed; end one first`);
    }
    if (!this.seen.has(uri)) this.seen.set(uri, null);
    const mark = await this.mark(place).catch((error: unknown) => {
      if (this.seen.get(uri) === null) this.remove(uri);
      throw error;
    });
    // It may have been ended meanwhile, alone or with its connection.
    if (!this.seen.has(uri)) return;
    this.seen.set(uri, mark);
    this.timer ??= setInterval(() => void this.look(), LOOK_MS).unref();
  }

  private remove(uri: string): void {
    this.seen.delete(uri);
    if (this.seen.size === 0) this.rest();
  }

  private rest(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private async look(): Promise<void> {
    // A store that is slower than the timer is not asked more because of it.
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      await this.lookAtAll();
    } finally {
      this.isLooking = false;
    }
  }

  private async lookAtAll(): Promise<void> {
    for (const [uri, before] of [...this.seen]) {
      const place = before === null ? null : placeOf(uri);
      // A store that is away for a moment has not changed.
      const mark = place === null ? before : await this.mark(place).catch(() => before);
      if (mark === before || !this.seen.has(uri)) continue;
      this.seen.set(uri, mark);
      await this.server.server.sendResourceUpdated({ uri }).catch(() => {});
    }
  }

  /** Differs whenever the resource does: everything that happens to a run or a budget is a link of its chain. */
  private async mark({ kind, id }: Place): Promise<string> {
    const run = kind === "run" || kind === "chain" ? await this.store.document("run", id) : null;
    const chain = kind === "budget_chain" ? await budgetChain(this.store, id) : (run?.budget ?? id);
    const head = chain === null ? null : await this.store.head(chain);
    const standing = kind === "budget" ? await this.store.budget(id) : null;
    return JSON.stringify([run?.version ?? null, head, standing?.used ?? null]);
  }
}
