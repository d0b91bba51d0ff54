import { posix } from "node:path";
import { BursarError } from "../core/errors.js";
import type { Field } from "./field.js";
import type { Place } from "./place.js";
import type { Reading } from "./reading.js";

/** The store that a file names. */
export interface NamedStore {
  readonly url: string;
  readonly place: Place | null;
}

/** Where approvals are announced. The secret itself stands in the environment, never in the file. */
export interface Webhook {
  readonly url: string;
  readonly secret_env: string;
}

const RELATIVE_SQLITE = /^sqlite:(?![\\/~]|[a-z]:[\\/])(?=[^:])/i;

interface StoreOptions {
  /** Where relative files are meant from. */
  readonly folder: string;
  /** Throws when the URL cannot be used. */
  readonly check?: ((url: string) => void) | undefined;
}

/** The URL of a store. A relative file is meant from where the configuration stands, whoever uses it from wherever. */
export function readStore(reading: Reading, field: Field, url: string, options: StoreOptions): NamedStore | null {
  const { folder, check = () => undefined } = options;
  try {
    check(url);
  } catch (error) {
    if (!(error instanceof BursarError)) throw error;
    reading.report(field, `cannot be used: ${error.message}`);
    return null;
  }
  const isRelative = RELATIVE_SQLITE.test(url) && folder !== ".";
  const path = posix.join(folder.replaceAll("\\", "/"), url.slice("sqlite:".length));
  return { url: isRelative ? `sqlite:${path}` : url, place: field.place };
}

/** A pattern tells a URL from other texts, and not whether it can be parsed. */
export function checkUrl(reading: Reading, field: Field | undefined, example: string): void {
  if (field?.kind !== "scalar" || URL.canParse(String(field.value))) return;
  reading.report(field, `is no http or https URL; write it as ${example}`);
}
