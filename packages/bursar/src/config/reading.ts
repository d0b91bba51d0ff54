import { type Dimensions, STANDARD } from "../core/dimensions.js";
import { nearest } from "../core/nearest.js";
import { describeField, type Field, type MapField, type Member } from "./field.js";
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

/** A mapping, or null after a complaint. */
export function asMap(reading: Reading, field: Field, holds: string): MapField | null {
  if (field.kind === "map") return field;
  const subject = field.path === "" ? "the configuration " : "";
  reading.report(field, `${subject}is ${describeField(field)}; allowed: a mapping ${holds}`);
  return null;
}

/** The members of a mapping whose keys are fixed; one that is not known would be passed over in silence. */
export function keyed(reading: Reading, field: Field, known: readonly string[]): ReadonlyMap<string, Field> {
  const map = asMap(reading, field, `with ${known.join(", ")}`);
  const members = new Map<string, Field>();
  for (const member of map?.members ?? []) {
    if (known.includes(member.key)) members.set(member.key, member.value);
    else reading.report(aboutKey(member), () => `is not known here; ${offer(member.key, known)}`);
  }
  return members;
}

/** The member of a mapping that has to be there; undefined after a complaint, which is the mapping's where it is none. */
export function needed(
  reading: Reading,
  field: Field,
  fields: ReadonlyMap<string, Field>,
  key: string,
): Field | undefined {
  const found = fields.get(key);
  if (found === undefined && field.kind === "map") reading.report(field, `has no ${key}; add it`);
  return found;
}

/** A complaint about a key points at the key, not at its value. */
export function aboutKey({ place, value }: Member): About {
  return { path: value.path, place };
}

/** A text that is not empty, or null after a complaint. */
export function asText(reading: Reading, field: Field, what: string): string | null {
  if (field.kind === "scalar" && typeof field.value === "string" && field.value !== "") return field.value;
  const hint = field.kind === "scalar" && field.written !== null && field.value !== null ? "; put it in quotes" : "";
  reading.report(field, `is ${describeField(field)}; allowed: ${what}${hint}`);
  return null;
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
