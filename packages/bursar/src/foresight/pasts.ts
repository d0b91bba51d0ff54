import type { Document } from "../core/document.js";
import type { Store } from "../ports/store.js";
import { statusOf } from "./history.js";
import type { Sample } from "./sample.js";

/** Of so many runs, the latest, the past is known: more take longer to read and say no more about the next one. */
const REMEMBERED = 256;
/** So many runs may have ended since a program was last looked at; after more, its past is read anew. */
const NEWS = 16;
/** The pasts of so many programs are kept in mind, those that were looked at last. */
const MOST_PROGRAMS = 64;
const WANTED = ["input_bytes", "used", "cut", "digest"];

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
  async of(program: string): Promise<readonly Sample[]> {
    const status = statusOf(program);
    const before = this.known.get(status);
    const past = (before === undefined ? null : await this.withNews(status, before)) ?? (await this.whole(status));
    this.known.delete(status);
    if (past === null) return [];
    this.known.set(status, past);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= MOST_PROGRAMS) break;
      this.known.delete(oldest);
    }
    return past.samples;
  }

  /** What is in mind, and what has come since; null when that is too much to tell. */
  private async withNews(status: string, before: Remembered): Promise<Remembered | null> {
    const news: Document[] = [];
    for await (const document of this.store.latest("history", { status, limit: NEWS, only: WANTED })) {
      if (document.id === before.newest) {
        const samples = [...news.flatMap(sampleIn), ...before.samples].slice(0, REMEMBERED);
        return { newest: news[0]?.id ?? before.newest, samples };
      }
      news.push(document);
    }
    return null;
  }

  private async whole(status: string): Promise<Remembered | null> {
    const documents: Document[] = [];
    for await (const document of this.store.latest("history", { status, limit: REMEMBERED, only: WANTED })) {
      documents.push(document);
    }
    const [newest] = documents;
    return newest === undefined ? null : { newest: newest.id, samples: documents.flatMap(sampleIn) };
  }
}

/** One sample, or none when the document holds something else. */
function sampleIn({ body }: Document): readonly Sample[] {
  const { input_bytes, used, cut, digest } = body as unknown as Sample;
  if (!isCount(input_bytes) || typeof used !== "object" || used === null) return [];
  return Object.values(used).every(isCount) ? [{ input_bytes, used, cut: cut === true, digest }] : [];
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}
