import type { Store } from "../../ports/store.js";
import { StoreOver } from "../../runtime/store-over.js";
import { Course } from "./course.js";
import { PendingQuotes } from "./pending-quotes.js";

/** Budgets of which nobody has heard for long are forgotten; their next choice is a first one. */
const MOST_COURSES = 10_000;

/** Where the calls of the budgets of one store stand. */
export class Standings {
  readonly pending: PendingQuotes = new PendingQuotes();
  private readonly courses = new Map<string, Course>();

  /** How the calls of a budget have gone with one list. */
  courseOf(chain: string, budget: string, list: { readonly name: string; readonly tiers: readonly unknown[] }): Course {
    // None of them has a line break in it.
    const key = `${chain}\n${budget}\n${list.name}`;
    const known = this.courses.get(key);
    if (known !== undefined) {
      // Those that are used stand behind those that are not.
      this.courses.delete(key);
      this.courses.set(key, known);
      return known;
    }
    const course = new Course(list.tiers.length);
    this.courses.set(key, course);
    const [oldest] = this.courses.keys();
    if (this.courses.size > MOST_COURSES && oldest !== undefined) this.courses.delete(oldest);
    return course;
  }
}

/** The same for any number of stores, apart: runs and budgets of two may have the same names. */
export class StandingsByStore {
  private readonly known = new WeakMap<Store, Standings>();

  of(store: Store): Standings {
    const beneath = StoreOver.beneath(store);
    const found = this.known.get(beneath) ?? new Standings();
    this.known.set(beneath, found);
    return found;
  }
}
