import { CommandError } from "./errors.js";

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "somebody else does; give another --port",
  EACCES: "this user may not; give a --port above 1023",
  EADDRNOTAVAIL: "this machine has no such address; give another --host",
  ENOTFOUND: "this machine has no such address; give another --host",
};

/** The error of a server that cannot listen, with what the user can do about it. */
export function notListening(error: unknown, host: string | undefined, port: number): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ""];
  if (reason === undefined) return error;
  return new CommandError(`it cannot listen on ${host ?? "127.0.0.1"}:${port}: ${reason}`);
}

/** Resolves when the signal fires. */
export function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
