import type { Link } from "../core/chain/link.js";
import { rounded } from "./charges.js";

/** A settlement that had to be written twice stands close to itself. */
const MOST_REMEMBERED = 10_000;

/** What links say was saved, each call once. */
export class Saved {
  usd = 0;
  private readonly calls = new Set<string>();

  take({ action_type, data }: Pick<Link, "action_type" | "data">): void {
    const { saved_usd, call_id } = data;
    if (action_type !== "Saved" || typeof saved_usd !== "number" || !(saved_usd > 0)) return;
    if (typeof call_id === "string") {
      if (this.calls.has(call_id)) return;
      this.calls.add(call_id);
      for (const oldest of this.calls) if (this.calls.size > MOST_REMEMBERED) this.calls.delete(oldest);
    }
    this.usd = rounded(this.usd + saved_usd);
  }
}
