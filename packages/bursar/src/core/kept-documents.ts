import type { Document } from "./document.js";

/** Where fewer than one in so many documents have a status, those are sorted rather than all looked through. */
const FEW = 16;

/** The documents of one kind, in the order in which they were first written. */
export class KeptDocuments {
  private readonly all: Document[] = [];
  private readonly places = new Map<string, number>();
  /** The places of the documents of each status. */
  private readonly byStatus = new Map<string, Set<number>>();

  get(id: string): Document | undefined {
    const place = this.places.get(id);
    return place === undefined ? undefined : this.all[place];
  }

  set(document: Document): void {
    const { id, status } = document;
    const place = this.places.get(id) ?? this.all.length;
    const known = this.all[place];
    this.places.set(id, place);
    this.all[place] = document;
    if (known?.status === status) return;
    if (known !== undefined) this.byStatus.get(known.status)?.delete(place);
    const places = this.byStatus.get(status) ?? new Set<number>();
    this.byStatus.set(status, places.add(place));
  }

  values(): readonly Document[] {
    return this.all;
  }

  counts(): Readonly<Record<string, number>> {
    const counted = [...this.byStatus].filter(([, { size }]) => size > 0);
    return Object.fromEntries(counted.map(([status, { size }]) => [status, size]));
  }

  /** From the first one on, or from the last one back; those beyond the one with this id, and none when it is not there. */
  *inOrder(step: 1 | -1, beyond?: string, status?: string): Iterable<Document> {
    const end = step === 1 ? this.all.length : -1;
    let at = step === 1 ? 0 : this.all.length - 1;
    if (beyond !== undefined) {
      const place = this.places.get(beyond);
      if (place === undefined) return;
      at = place + step;
    }
    if (status === undefined) {
      for (; at !== end && this.all[at] !== undefined; at += step) yield this.all[at] as Document;
      return;
    }
    const places = this.byStatus.get(status);
    if (places === undefined) return;
    if (places.size * FEW > this.all.length) {
      for (; at !== end && this.all[at] !== undefined; at += step)
        if (this.all[at]?.status === status) yield this.all[at] as Document;
      return;
    }
    const wanted = [...places].filter((place) => (place - at) * step >= 0).sort((a, b) => (a - b) * step);
    for (const place of wanted) {
      const document = this.all[place];
      if (document?.status === status) yield document;
    }
  }
}
