import { InputError } from "bursar";
import type { Configuration } from "bursar/config";
import { type AllowedMembers, allowedNames } from "bursar/models";
import { UsageError } from "../app/errors.js";
import { type Given, listOf } from "./run-flags.js";

const WRITTEN = "write --allow openrouter.ai=provider,models";

/** What is sent to each host though it may choose another model or bring input: as the configuration and flags say together. */
export function allowedBy(flags: Given, { allow }: Pick<Configuration, "allow">): AllowedMembers {
  const hosts = new Map<string, readonly string[]>(
    Object.entries(allow).map(([host, names]) => [host.toLowerCase(), names]),
  );
  for (const text of listOf(flags, "allow")) {
    const [, host, names] = /^([^=]{1,300})=(.{1,2000})$/s.exec(text) ?? [];
    if (host === undefined || names === undefined) throw new UsageError(`--allow names no host; ${WRITTEN}`);
    const key = host.trim().toLowerCase();
    hosts.set(key, [...(hosts.get(key) ?? []), ...names.split(",").map((name) => name.trim())]);
  }
  const allowed = Object.fromEntries(hosts);
  try {
    // It is read once here, so that a mistyped name is told before anything is opened.
    allowedNames(allowed, "");
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`--allow: ${error.message}; ${WRITTEN}`) : error;
  }
  return allowed;
}
