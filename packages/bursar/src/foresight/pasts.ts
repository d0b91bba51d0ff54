import type { Amount } from "../core/amount.js";
import { isCount } from "../core/chain/rules.js";
import type { Document } from "../core/document.js";
import type { Store } from "../ports/store.js";
import { statusOf, type Whose } from "./history.js";
import type { Sample } from "./sample.js";

/** Of so many runs, the latest, the past is known: more take longer to read and say no more about the next one. */
const REMEMBERED = 128;
/** So many runs may have ended since a program was last looked at; after more, its past is read anew. */
const NEWS = 16;
/** The pasts of so many programs are kept in mind, those that were looked at last. */
const MOST_PROGRAMS = 64;

interface Remembered {
  readonly newest: string;
  readonly samples: readonly Sample[];
}

/** The pasts of programs, as a store knows them. What has been read once is kept in mind: of an old past only the news is read. */
export class Pasts {
  private readonly store: Store;
  private readonly known = new Map<string, Remembered>();

  constructor(store: Store) {
    this.store = store;
  }

  /** The latest runs of a program, and from there back. What is not a sample of a run is passed over. */
  async of(whose: Whose): Promise<readonly Sample[]> {
    const status = statusOf(whose);
    const { name } = whose;
    // Names may be written alike, and their pasts are not.
    const key = `${status}\n${name}`;
    const before = this.known.get(key);
    const news = before === undefined ? null : await this.withNews(status, name, before);
    const past = news ?? (await this.whole(status, name));
    this.known.delete(key);
    if (past === null) return [];
    this.known.set(key, past);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= MOST_PROGRAMS) break;
      this.known.delete(oldest);
    }
    return past.samples;
  }

  /** What is in mind, and what has come since; null when that is too much to tell. */
  private async withNews(status: string, name: string, before: Remembered): Promise<Remembered | null> {
    const news: Document[] = [];
    for await (const document of this.store.latest("history", { status, limit: NEWS })) {
      if (document.id === before.newest) {
        const samples = [...this.samplesIn(news, name), ...before.samples].slice(0, REMEMBERED);
        return { newest: news[0]?.id ?? before.newest, samples };
      }
      news.push(document);
    }
    return null;
  }

  private async whole(status: string, name: string): Promise<Remembered | null> {
    const documents: Document[] = [];
    for await (const document of this.store.latest("history", { status, limit: REMEMBERED })) {
      documents.push(document);
    }
    const [newest] = documents;
    return newest === undefined ? null : { newest: newest.id, samples: this.samplesIn(documents, name) };
  }

  /** The samples of one program among documents, of which some may hold something else. */
  private samplesIn(documents: readonly Document[], name: string): readonly Sample[] {
    const { dimensions } = this.store;
    return documents.flatMap(({ body }) => {
      const { program, input_bytes, used, spare, cut, digest } = body as unknown as Sample & {
        readonly program: string;
      };
      if (program !== name || !isCount(input_bytes) || typeof used !== "object" || used === null) return [];
      // The table may have been another one then, and of what is not in it nobody can be told.
      const known = Object.entries(used).filter(([id]) => dimensions.has(id));
      if (!known.every(([, amount]) => isCount(amount))) return [];
      const amounts: Readonly<Record<string, Amount>> = Object.fromEntries(known);
      const left = Object.entries(spare ?? {}).filter(([id, amount]) => dimensions.has(id) && isCount(amount));
      return [{ input_bytes, used: amounts, spare: Object.fromEntries(left), cut: cut === true, digest }];
    });
  }
}
