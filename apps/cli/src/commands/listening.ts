import { readFileSync } from "node:fs";
import { InputError } from "bursar";
import { CommandError, UsageError } from "../args.js";
import { type Given, textOf } from "../runs/flags.js";

// What commands that listen have in common.

export const PORT = 8787;
/** Who is told to stop gives what is under way so long. */
export const DRAIN_MS = 10_000;

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "somebody else does; give another --port",
  EACCES: "this user may not; give a --port above 1023",
  EADDRNOTAVAIL: "this machine has no such address; give another --host",
  ENOTFOUND: "this machine has no such address; give another --host",
};

/** Why it does not listen, as somebody can mend it. */
export function notListening(error: unknown, host: string | undefined, port: number): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ""];
  if (reason === undefined) return error;
  return new CommandError(`it cannot listen on ${host ?? "127.0.0.1"}:${port}: ${reason}`);
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

/** What flags have said wrongly is a command line that was not understood. */
export async function asUsage<Value>(flag: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new UsageError(flag === "" ? error.message : `${flag}: ${error.message}`);
  }
}

export function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
