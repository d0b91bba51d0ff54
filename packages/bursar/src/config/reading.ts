import { type Dimensions, STANDARD } from "../core/dimensions.js";
import { nearest } from "../core/nearest.js";
import type { Field, Member } from "./field.js";
import type { Place } from "./place.js";
import { ConfigError, type Problem } from "./problem.js";
import type { Source } from "./source.js";

/** What a complaint is about. */
export interface About {
  readonly path: string;
  readonly place: Place | null;
}

/** More than anybody mends at once; a hostile file could have one in every second character. */
const MOST_PROBLEMS = 100;

/** One reading of a text: it goes on after a problem, so that all of them are told at once. */
export class Reading {
  readonly dimensions: Dimensions;
  private readonly source: Source | null;
  private readonly found: Problem[] = [];
  private readonly noted: Problem[] = [];
  private untold = 0;

  constructor(source: Source | null = null, dimensions: Dimensions = STANDARD) {
    this.source = source;
    this.dimensions = dimensions;
  }

  /** Things that are allowed, but that a reader may not expect. */
  get notes(): readonly Problem[] {
    return this.noted;
  }

  /** A complaint that takes long to find words for is given as a function: of thousands, few are told. */
  report(about: About, complaint: string | (() => string)): void {
    if (this.found.length >= MOST_PROBLEMS) this.untold++;
    else this.found.push(this.problem(about, typeof complaint === "string" ? complaint : complaint()));
  }

  note(about: About, remark: string): void {
    if (this.noted.length < MOST_PROBLEMS) this.noted.push(this.problem(about, remark));
  }

  /** Throws when anything was wrong, with all of it, in the order of the text. */
  finish(): void {
    if (this.found.length === 0) return;
    const problems = this.found.toSorted((a, b) => order(a.place) - order(b.place));
    if (this.untold > 0) {
      const message = `and ${this.untold} further problems; mend these first`;
      problems.push({ field: "", message, place: null, excerpt: null });
    }
    throw new ConfigError(problems);
  }

  private problem({ path, place }: About, text: string): Problem {
    const excerpt = place === null || this.source === null ? null : this.source.excerptAt(place);
    const field = shortened(path);
    return { field, message: shortened(field === "" ? text : `${field} ${text}`, MOST_MESSAGE), place, excerpt };
  }
}

/** Names can be as long as a file. */
const MOST_PATH = 200;
const MOST_MESSAGE = 1000;

function shortened(text: string, most = MOST_PATH): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

const MOST_COLUMNS = 1_000_000;

function order(place: Place | null): number {
  return place === null ? Number.MAX_SAFE_INTEGER : (place.line ?? 1) * MOST_COLUMNS + place.column;
}

/** The members of a mapping by key; none for anything else. */
export function membersOf(field: Field | null | undefined): ReadonlyMap<string, Field> {
  return new Map(field?.kind === "map" ? field.members.map(({ key, value }) => [key, value]) : []);
}

/** A text that is not empty; null for anything else. */
export function textIn(field: Field | undefined): string | null {
  return field?.kind === "scalar" && typeof field.value === "string" && field.value !== "" ? field.value : null;
}

/** A complaint about a key points at the key, not at its value. */
export function aboutKey({ place, value }: Member): About {
  return { path: value.path, place };
}

/** `did you mean x?`, or all there are. */
export function offer(word: string, known: readonly string[]): string {
  const guess = nearest(word.replaceAll("-", "_"), known.slice(0, MOST_COMPARED));
  return guess === null ? `known: ${listed(known)}` : `did you mean ${guess}?`;
}

const MOST_LISTED = 24;
const MOST_COMPARED = 1000;

/** Names for a message; there may be thousands. */
function listed(names: readonly string[]): string {
  const some = names.slice(0, MOST_LISTED).join(", ");
  return names.length > MOST_LISTED ? `${some} and ${names.length - MOST_LISTED} more` : some;
}
