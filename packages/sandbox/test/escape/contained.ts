import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  openSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxResult,
  type SandboxSession,
} from "@bursar/sandbox";
import { expect } from "vitest";
import type { Ending, HostileProgram } from "./hostile-program.js";

/** Shared by all runs, so that only the first has to make what it holds. */
export const CACHE: string = fileURLToPath(
  new URL("../../../../node_modules/.cache/bursar-sandbox-tests", import.meta.url),
);
const SECRET_NAME = "BURSAR_ESCAPE_SECRET";

/** Generous, because a machine under load is slow; a program whose point is its deadline sets its own. */
const PATIENCE = 60_000;
const FUEL = 3_000_000_000;

const NEXT = { python: "print(1)", javascript: "console.log(1)" } as const;
const COUNT = {
  python: "count = globals().get('count', 0) + 1\nprint(count)",
  javascript: "globalThis.count = (globalThis.count ?? 0) + 1; console.log(count)",
} as const;

/** A sandbox with something beside it that must stay as it is, and must not be seen from inside. */
export class Surroundings implements AsyncDisposable {
  readonly sandbox: Sandbox;
  /** A folder of the host that no session has been given. */
  readonly outside: string;
  private readonly keys: string;
  /** What is written in the file outside, and what the host's environment holds. */
  private readonly treasures: readonly string[];
  private readonly neighbours = new Map<string, { readonly session: SandboxSession; count: number }>();

  private constructor(sandbox: Sandbox, outside: string, keys: string, treasures: readonly string[]) {
    this.sandbox = sandbox;
    this.outside = outside;
    this.keys = keys;
    this.treasures = treasures;
  }

  static async open(options: SandboxOptions = {}): Promise<Surroundings> {
    const outside = mkdtempSync(join(tmpdir(), "bursar-outside-"));
    const treasures = [`canary ${randomUUID()}`, `secret ${randomUUID()}`] as const;
    writeFileSync(join(outside, "canary.txt"), treasures[0]);
    process.env[SECRET_NAME] = treasures[1];
    mkdirSync(CACHE, { recursive: true });
    const keys = mkdtempSync(join(tmpdir(), "bursar-key-"));
    const keyFile = join(keys, "sandbox.key");
    const sandbox = await openSandbox({ isolation: "process", cacheFolder: CACHE, keyFile, workers: 2, ...options });
    return new Surroundings(sandbox, outside, keys, treasures);
  }

  /** Runs a program in a session of its own, beside another one, and checks everything that has to be true of any program. */
  async contain(program: HostileProgram): Promise<SandboxResult> {
    const { language, options, run } = program;
    const session = await this.sandbox.createSession({ language, fuelBudget: FUEL, timeout: PATIENCE, ...options });
    try {
      const code = program.code.replaceAll("@outside@", this.outside).replaceAll("@secret@", SECRET_NAME);
      const [result] = await Promise.all([session.execute(code, run), this.askNeighbour(language)]);
      this.expectUnharmed(result);
      expectTold(program, result);
      await this.expectUsable(session, language);
      return result;
    } finally {
      await session.destroy();
    }
  }

  /** Another session, which keeps a count and must never lose it. */
  async askNeighbour(language: HostileProgram["language"]): Promise<void> {
    const neighbour = this.neighbours.get(language) ?? { session: await this.makeNeighbour(language), count: 0 };
    this.neighbours.set(language, neighbour);
    neighbour.count += 1;
    const { stdout, stderr } = await neighbour.session.execute(COUNT[language]);
    expect({ stdout, stderr }, "the neighbour").toEqual({ stdout: `${neighbour.count}\n`, stderr: "" });
  }

  /** The next execution of a session works, whatever the last one did. */
  async expectUsable(session: SandboxSession, language: HostileProgram["language"]): Promise<void> {
    const { stdout, stderr, success } = await session.execute(NEXT[language], { timeout: PATIENCE });
    expect({ stdout, stderr, success }, "the next execution").toEqual({ stdout: "1\n", stderr: "", success: true });
  }

  /** Nothing of the host was told, and nothing was made or changed out there. */
  expectUnharmed(result: unknown): void {
    const told = JSON.stringify(result);
    for (const treasure of this.treasures) expect(told).not.toContain(treasure);
    expect(readdirSync(this.outside)).toEqual(["canary.txt"]);
    expect(readFileSync(join(this.outside, "canary.txt"), "utf8")).toBe(this.treasures[0]);
    for (const place of ["/", "/app", tmpdir(), homedir(), process.cwd()]) {
      expect(existsSync(join(place, "escaped")), `${place}/escaped`).toBe(false);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox[Symbol.asyncDispose]();
    delete process.env[SECRET_NAME];
    for (const folder of [this.outside, this.keys]) rmSync(folder, { recursive: true, force: true });
  }

  private makeNeighbour(language: HostileProgram["language"]): Promise<SandboxSession> {
    return this.sandbox.createSession({ language, autoPersistGlobals: true, timeout: PATIENCE });
  }
}

export function endingOf({ exit_code, metadata }: SandboxResult): Ending {
  return metadata.trap_reason ?? (exit_code === 0 ? "well" : "badly");
}

function expectTold({ ends, says, complains, truncated = [] }: HostileProgram, result: SandboxResult): void {
  const { stdout, stderr, exit_code, success, metadata } = result;
  const story = `${metadata.trap_message ?? ""} ${stderr.slice(-1000)} ${stdout.slice(-1000)}`;
  expect([ends].flat(), story).toContain(endingOf(result));
  expect(success).toBe(endingOf(result) === "well");
  expect(exit_code === 0, story).toBe(success);
  if (says !== undefined) expect(stdout).toBe(says);
  if (complains !== undefined) expect(stderr).toContain(complains);
  expect(metadata.stdout_truncated, "stdout").toBe(truncated.includes("stdout"));
  expect(metadata.stderr_truncated, "stderr").toBe(truncated.includes("stderr"));
}
