import { CanonicalError } from "../../core/chain/canonical-error.js";
import { LinkError } from "../../core/chain/rules.js";
import { StaleError } from "../../core/document.js";
import { BursarError, InputError, LedgerError } from "../../core/errors.js";
import { NoRoomError, RefusedError } from "../../core/refused.js";
import { StoreError } from "../durable/errors.js";

/** An error on its way from one thread to the other: its class would be lost on the way. */
export interface Packed {
  readonly type: string;
  readonly members: Readonly<Record<string, unknown>>;
}

const TYPES: Readonly<Record<string, { readonly prototype: object }>> = {
  BursarError,
  InputError,
  LedgerError,
  StaleError,
  RefusedError,
  NoRoomError,
  StoreError,
  LinkError,
  CanonicalError,
};

export function pack(error: unknown): Packed {
  if (!(error instanceof Error)) return { type: "Error", members: { message: String(error) } };
  const { stack: _, cause, ...members } = error as Error & Record<string, unknown>;
  const why = cause instanceof Error ? { cause: pack(cause) } : {};
  return { type: error.name, members: { ...members, message: error.message, name: error.name, ...why } };
}

export function unpack({ type, members }: Packed): Error {
  const { message, cause, ...rest } = members;
  const options = cause === undefined ? undefined : { cause: unpack(cause as Packed) };
  const error = new Error(String(message), options);
  const prototype = TYPES[type]?.prototype;
  if (prototype !== undefined) Object.setPrototypeOf(error, prototype);
  return Object.assign(error, rest);
}
