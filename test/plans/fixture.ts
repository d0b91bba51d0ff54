import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Handlers, openSandbox, type SandboxSession } from "@bursar/sandbox";
import { compilePlan, type Plan } from "../../packages/bursar/src/plans/plans.js";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));

/** What came of a plan, and what it asked its host for, in order. */
export interface Ran {
  readonly value: unknown;
  readonly asked: readonly { readonly name: string; readonly args: unknown }[];
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
}

export interface Given {
  readonly input?: unknown;
  /** Answers to what the plan asks for, besides its input and its result. */
  readonly handlers?: Handlers;
  /** Answers to its tools, by their names. */
  readonly tools?: Readonly<Record<string, (args: never) => unknown>>;
}

/** A real sandbox for plans. */
export class Bench implements AsyncDisposable {
  private readonly folder = mkdtempSync(join(tmpdir(), "bursar-plans-"));
  private readonly sandbox = openSandbox({
    cacheFolder: CACHE,
    packagesFolder: join(this.folder, "packages"),
    keyFile: join(this.folder, "key"),
    workers: 1,
  });

  async session(): Promise<SandboxSession> {
    return (await this.sandbox).createSession({ language: "javascript", deterministic: true });
  }

  async restore(saved: Uint8Array): Promise<SandboxSession> {
    return (await this.sandbox).restoreSession(saved);
  }

  async run(text: string, given: Given = {}, file = "test.rtfs"): Promise<Ran> {
    return this.runPlan(compilePlan(text, { file }), given);
  }

  async runPlan({ code }: Pick<Plan, "code">, { input = {}, handlers = {}, tools = {} }: Given = {}): Promise<Ran> {
    const session = await this.session();
    const asked: { name: string; args: unknown }[] = [];
    const results: unknown[] = [];
    const all: Record<string, (args: unknown) => unknown> = {
      input: () => input,
      result: (value) => void results.push(value),
      step: () => null,
      tool: (args) => {
        const { name, args: inner } = args as { name: string; args: never };
        const tool = tools[name];
        if (tool === undefined) throw new Error(`no tool ${name}`);
        return tool(inner);
      },
      ...handlers,
    };
    const watched = Object.entries(all).map(([name, handler]) => {
      const watch = (args: unknown) => {
        if (name !== "input" && name !== "result") asked.push({ name, args });
        return handler(args);
      };
      return [name, watch] as const;
    });
    const { stdout, stderr, exit_code } = await session.execute(code, { handlers: Object.fromEntries(watched) });
    await session.destroy();
    return { value: results[0], asked, stdout, stderr, exit_code };
  }

  /** The value of one expression. */
  async evaluate(expression: string, given: Given = {}): Promise<unknown> {
    const { value, stderr, exit_code } = await this.run(`(run :body ${expression})`, given);
    if (exit_code !== 0) throw new Error(stderr);
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.sandbox)[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true });
  }
}
