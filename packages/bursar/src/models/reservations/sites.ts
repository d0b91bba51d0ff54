import { StaleError } from "../../core/document.js";
import type { Store } from "../../ports/store.js";
import { StoreOver } from "../../runtime/store-over.js";
import { ENOUGH, REMEMBERED } from "./outputs.js";
import { Site } from "./site.js";
import { documentId, outputsIn, withSite } from "./site-document.js";

/** So many sites are remembered; those that were silent for longest go first, several at once, because it takes a look at all. */
const MOST_SITES = 1024;
const LEAVING = MOST_SITES / 8;
/** What was learned is written down after so long. */
const KEEP_MS = 5000;
/** Or once so much is new about one site. */
const MOST_FRESH = REMEMBERED / 2;
/** Another process may write the same document at the same time, but not for ever. */
const MOST_TRIES = 4;

/** Those who have learned something that is not written down yet. */
const learning = new Set<Sites>();

/**
 * Writes down what was learned from calls that were paid for from a store. It is done now and then by itself; whoever closes the
 * store calls this before.
 */
export async function keepSites(store: Store): Promise<void> {
  await Promise.all([...learning].map((sites) => sites.keep(StoreOver.beneath(store))));
}

/**
 * The places that calls come from, with what is known about them. They are remembered over restarts in the stores that pay for
 * the calls. No call waits for anything that is read or written here.
 */
export class Sites {
  private readonly sites = new Map<string, Site>();
  private readonly changed = new Set<Site>();
  /** Counts answers. */
  private turn = 0;
  private timer: NodeJS.Timeout | null = null;
  private keeping: Promise<void> = Promise.resolve();

  /** The store is where a new one may be known from before. */
  find(key: string, model: string, store: Store): Site {
    const found = this.sites.get(key);
    if (found !== undefined) return found;
    const site = new Site(key, model, (each) => this.learned(each));
    if (this.sites.size >= MOST_SITES) this.forget();
    site.heard = this.turn;
    this.sites.set(key, site);
    void load(site, store);
    return site;
  }

  /** Writes down what is new, in one store or in all of them. */
  keep(store: Store | null = null): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.keeping = this.keeping.then(() => this.writeAll(store));
    return this.keeping;
  }

  private forget(): void {
    const silent = [...this.sites].sort(([, a], [, b]) => a.heard - b.heard).slice(0, LEAVING);
    for (const [key, site] of silent) {
      this.sites.delete(key);
      this.changed.delete(site);
    }
  }

  private learned(site: Site): void {
    site.heard = ++this.turn;
    // A few answers say nothing, and whoever thinks of a new name for every call is not worth a document.
    if (site.upper === null) return;
    this.changed.add(site);
    learning.add(this);
    if (site.fresh.length === MOST_FRESH) void this.keep();
    this.timer ??= setTimeout(() => void this.keep(), KEEP_MS).unref();
  }

  private async writeAll(wanted: Store | null): Promise<void> {
    for (const site of [...this.changed]) {
      const store = site.store === null ? null : StoreOver.beneath(site.store);
      if (store === null || (wanted !== null && store !== wanted)) continue;
      this.changed.delete(site);
      site.store = null;
      // What cannot be written now, in a store that was closed perhaps, is tried again when something is learned.
      await write(site, store).catch(() => {});
    }
    if (this.changed.size === 0) learning.delete(this);
    else this.timer ??= setTimeout(() => void this.keep(), KEEP_MS).unref();
  }
}

async function load(site: Site, store: Store): Promise<void> {
  try {
    const outputs = outputsIn(await store.document("history", documentId(site)), site);
    // Whatever has come meanwhile is newer.
    if (outputs.length > 0) site.written(outputs, 0);
  } catch {
    // Nothing is known then, as of a site that is new.
  }
}

async function write(site: Site, store: Store): Promise<void> {
  let document = await store.document("history", documentId(site));
  for (let tries = 1; ; tries++) {
    const { fresh } = site;
    const count = fresh.length;
    const outputs = [...outputsIn(document, site), ...fresh].slice(-REMEMBERED);
    if (count === 0 || outputs.length < ENOUGH) return;
    try {
      await store.apply([withSite(document, site, outputs, store.clock.now().instant)]);
      return site.written(outputs, count);
    } catch (error) {
      if (!(error instanceof StaleError) || tries === MOST_TRIES) throw error;
      ({ document } = error);
    }
  }
}
