import { posix } from "node:path";
import { BursarError } from "../core/errors.js";
import type { Field } from "./field.js";
import type { Place } from "./place.js";
import { asMap, asText, keyed, needed, type Reading } from "./reading.js";
import { readUrl, readVariable } from "./scalars.js";

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

/**
 * Reads a section of its own out of a file. Complaints go to `reading`; what it gives back stands in the configuration under
 * the name of the section.
 */
export type SectionReader = (reading: Reading, field: Field) => unknown;

const SQLITE = /^sqlite:(?![\\/~]|[a-z]:[\\/])(?=[^:])/i;

/** The URL of a store. A relative file is meant from where the configuration stands, whoever uses it from wherever. */
export function readStore(
  reading: Reading,
  field: Field,
  { folder, check = () => undefined }: { folder: string; check?: ((url: string) => void) | undefined },
): NamedStore | null {
  const url = asText(reading, field, "the URL of a store, such as sqlite:bursar.db or postgres://user@host/database");
  if (url === null) return null;
  if (!/^[a-z]+:/i.test(url)) {
    reading.report(field, "has no scheme; allowed: sqlite:<file>, postgres://user@host/database, memory:");
    return null;
  }
  try {
    check(url);
  } catch (error) {
    if (!(error instanceof BursarError)) throw error;
    reading.report(field, `cannot be used: ${error.message}`);
    return null;
  }
  const isRelative = SQLITE.test(url) && folder !== ".";
  const path = posix.join(folder.replaceAll("\\", "/"), url.slice("sqlite:".length));
  return { url: isRelative ? `sqlite:${path}` : url, place: field.place };
}

/** Reads `deployments: { chat-prod: gpt-4o-mini }`: which model each deployment runs, where models have names of their own. */
export function readDeployments(reading: Reading, field: Field | undefined): Readonly<Record<string, string>> {
  const map = field === undefined ? null : asMap(reading, field, "with a model for each deployment");
  const models = new Map<string, string>();
  for (const { key, value } of map?.members ?? []) {
    const model = asText(reading, value, "the name of a model, such as gpt-4o-mini");
    if (model !== null) models.set(key, model);
  }
  return Object.fromEntries(models);
}

/** Reads `allow: { openrouter.ai: [provider] }`: what is sent to a host though it may choose another model or bring input. */
export function readAllow(reading: Reading, field: Field | undefined): Readonly<Record<string, readonly string[]>> {
  const map = field === undefined ? null : asMap(reading, field, "with a list of names for each host");
  const hosts = new Map<string, readonly string[]>();
  for (const { key, value } of map?.members ?? []) {
    if (value.kind !== "list") {
      reading.report(value, "is no list; allowed: names of members, headers and parameters, such as [provider]");
      continue;
    }
    const names = value.items.map((item) => asText(reading, item, "a name, such as provider"));
    hosts.set(
      key,
      names.filter((name) => name !== null),
    );
  }
  return Object.fromEntries(hosts);
}

export function readWebhook(reading: Reading, field: Field): Webhook | null {
  const fields = keyed(reading, field, ["url", "secret_env"]);
  const url = needed(reading, field, fields, "url");
  const secret = needed(reading, field, fields, "secret_env");
  const address = readUrl(reading, url, { example: "https://host/path", instead: "requests are signed" });
  const name = readVariable(reading, secret, "secret");
  return address === null || name === null ? null : { url: address, secret_env: name };
}
