import { execFile } from "node:child_process";
import { PackageError, systemCode } from "./errors.js";
import type { ProcessEnvironment } from "./index-url.js";

export interface ToolOptions {
  readonly env: ProcessEnvironment;
  readonly signal?: AbortSignal | undefined;
  readonly folder?: string | undefined;
  readonly limitBytes: number;
}

export interface ToolResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const TIMEOUT_MS = 300_000;

/** Runs one of Debian's programs to its end: without a shell, within bounded time, with a bounded amount of output. */
export function runTool(program: string, args: readonly string[], options: ToolOptions): Promise<ToolResult> {
  const { env, signal, folder, limitBytes } = options;
  return new Promise((done, failed) => {
    const settings = {
      // Messages are recognised by their English wording.
      env: { ...env, LC_ALL: "C" },
      encoding: "buffer" as const,
      maxBuffer: limitBytes,
      timeout: TIMEOUT_MS,
      ...(signal === undefined ? {} : { signal }),
      ...(folder === undefined ? {} : { cwd: folder }),
    };
    execFile(program, [...args], settings, (error, stdout, stderr) => {
      const said = stderr.toString("utf8").trim();
      if (error === null) done({ exitCode: 0, stdout, stderr: said });
      else if (signal?.aborted === true) failed(signal.reason);
      else if (typeof error.code === "number") done({ exitCode: error.code, stdout, stderr: said });
      else failed(toolError(program, error, limitBytes));
    });
  });
}

function toolError(program: string, error: Error, limitBytes: number): PackageError {
  switch (systemCode(error)) {
    case "ENOENT":
      return new PackageError(
        "source_unreachable",
        `${program} is not on this machine, and Debian's packages need it; use a package index instead`,
        { cause: error },
      );
    case "ERR_CHILD_PROCESS_STDIO_MAXBUFFER":
      return new PackageError("package_refused", `${program} gives more than ${limitBytes} bytes`, { cause: error });
    default:
      return new PackageError("source_unreachable", `${program} did not end by itself: ${error.message}`, {
        cause: error,
      });
  }
}
