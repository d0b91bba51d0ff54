import { readFileSync } from "node:fs";
import { CommandError, UsageError } from "../app/errors.js";
import { readSpan } from "./read-span.js";
import { countOf, type Flags, type Given, textOf } from "./run-flags.js";

// What commands that listen have in common.

const PORT = 8787;
/** Who is told to stop gives what is under way so long. */
export const DRAIN_MS = 10_000;
/** The same for whoever serves streams, unless --grace says otherwise: a little less than Kubernetes waits before it kills. */
export const GRACE_MS = 25_000;
const LONGEST_GRACE_MS = 3_600_000;

/** What all that listen understand. */
export const LISTENING: Flags = {
  port: { type: "string" },
  host: { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  url: { type: "string" },
  grace: { type: "string" },
  connections: { type: "string" },
  "connections-per-address": { type: "string" },
  quiet: { type: "boolean" },
};

export const LISTENING_HELP = `  --port <n>         where it listens: ${PORT} unless said otherwise; 0 for any
  --host <address>   on which address of this machine: 127.0.0.1
  --tls-cert <file>  a certificate, and
  --tls-key <file>   its key, as PEM: then it speaks HTTPS
  --url <address>    where clients find it, if that is somewhere else
  --grace <time>     how long what is under way may take when it is stopped: ${GRACE_MS / 1000}s
  --connections <n>  how many connections at once: 10000; beyond that, the one
                     that has been idle the longest makes room
  --connections-per-address <n>
                     the same for one address: 2500; behind a proxy all clients
                     have its address, so say more there
  --quiet            tell nothing but faults`;

const MOST_CONNECTIONS = 1_000_000;

/** How many connections there may be, as far as flags say so. */
export function connectionsOf(flags: Given): {
  readonly connections?: number;
  readonly connections_per_address?: number;
} {
  const connections = countOf(flags, "connections", MOST_CONNECTIONS);
  const connections_per_address = countOf(flags, "connections-per-address", MOST_CONNECTIONS);
  return {
    ...(connections !== undefined && { connections }),
    ...(connections_per_address !== undefined && { connections_per_address }),
  };
}

export function readGrace(flags: Given): number {
  const text = textOf(flags, "grace");
  const ms = text === undefined ? GRACE_MS : readSpan(text);
  if (ms !== null && ms <= LONGEST_GRACE_MS) return ms;
  throw new UsageError(`--grace is ${text?.slice(0, 40)}; allowed: a time from 0s to 1h`);
}

export function readPort(text: string | undefined): number {
  if (text === undefined) return PORT;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port is ${text.slice(0, 40)}; allowed: a whole number from 0 to 65535`);
}

/** The address to listen on; those of IPv6 may stand in brackets, as they do in a URL. */
export function hostOf(flags: Given): string | undefined {
  return textOf(flags, "host")?.replace(/^\[(.+)\]$/, "$1");
}

export function tlsOf(flags: Given): { readonly cert: string; readonly key: string } | null {
  const cert = textOf(flags, "tls-cert");
  const key = textOf(flags, "tls-key");
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) {
    throw new UsageError(`--tls-${cert === undefined ? "cert" : "key"} is missing: a certificate needs its key`);
  }
  return { cert: fileOf(cert, "--tls-cert"), key: fileOf(key, "--tls-key") };
}

function fileOf(path: string, flag: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new CommandError(`${flag}: ${path} cannot be read (${code})`);
  }
}
