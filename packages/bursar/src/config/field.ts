import type { Place } from "./place.js";

/** A value from outside, with its path and its place: what YAML, flags and plain objects have in common. */
export type Field = MapField | ListField | ScalarField | EmptyField;

interface FieldBase {
  readonly path: string;
  readonly place: Place | null;
}

interface MapField extends FieldBase {
  readonly kind: "map";
  readonly members: readonly Member[];
}

export interface Member {
  readonly key: string;
  /** The place of the key. */
  readonly place: Place | null;
  readonly value: Field;
}

interface ListField extends FieldBase {
  readonly kind: "list";
  readonly items: readonly Field[];
}

export interface ScalarField extends FieldBase {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  /** As it was written, where it was: a double may be another number. */
  readonly written: string | null;
}

/** A key without a value, which is not a null: nobody gets an unlimited budget by forgetting something. */
interface EmptyField extends FieldBase {
  readonly kind: "empty";
}

/** What a value is, for a message. */
export function describeField(field: Field): string {
  switch (field.kind) {
    case "map":
      return "a mapping";
    case "list":
      return "a list";
    case "empty":
      return "empty";
    case "scalar":
      return typeof field.value === "string" ? shorten(field.value) : (field.written ?? String(field.value));
  }
}

const MOST_SHOWN = 40;

function shorten(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
}

export function pathOf(parent: string, key: string): string {
  return parent === "" ? key : `${parent}.${key}`;
}
