import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { BudgetAmounts, Json, StartOptions } from "bursar";
import type { Address } from "../../packages/bursar/test/stores/child.js";

const WORKER = fileURLToPath(new URL("./children/worker.mjs", import.meta.url));

/** What a worker process is asked to do. */
export interface Errand {
  readonly address: Address;
  readonly doors: string;
  readonly model: string;
  readonly sandbox: { readonly cacheFolder: string; readonly keyFile: string };
  readonly worker: string;
  readonly claim_ms: number;
  readonly most?: number;
  /** Changes what the TypeScript program asks for. */
  readonly wording?: string;
  readonly starts?: readonly { readonly program: string; readonly input: Json; readonly options: StartOptions }[];
  readonly approves?: readonly { readonly id: string; readonly extensions: BudgetAmounts }[];
  /** Runs that stand still, and are let go on. */
  readonly resumes?: readonly string[];
}

/** Something a worker process has said: that a run stands still or has ended, or that it could not be driven. */
export interface Said {
  readonly run: string;
  readonly status?: string;
  readonly fault?: { readonly code?: string; readonly message?: string };
}

/** A worker in a process of its own, which can be killed. */
export class WorkerProcess {
  readonly said: Said[] = [];
  private readonly child: ChildProcess;
  private readonly over: Promise<void>;
  private readonly waiting = new Set<() => void>();
  private stderr = "";
  private gone = false;

  /** `trap` as in `packages/bursar/test/stores/children/trap.mjs`. */
  constructor(errand: Errand, { trap }: { readonly trap?: string } = {}) {
    const preload = new URL("../../packages/bursar/test/stores/children/trap.mjs", import.meta.url).href;
    const args = [...(trap === undefined ? [] : ["--import", preload]), WORKER, JSON.stringify(errand)];
    const env = { ...process.env, ...(trap !== undefined && { BURSAR_TRAP: trap }) };
    this.child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"], env });
    this.child.stdin?.on("error", () => {});
    this.child.stderr?.on("data", (piece) => {
      this.stderr += String(piece);
    });
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    lines.on("line", (line) => {
      this.said.push(JSON.parse(line) as Said);
      this.look();
    });
    this.over = new Promise((resolve) => {
      this.child.once("close", () => {
        this.gone = true;
        resolve();
        this.look();
      });
    });
  }

  /** Looks again whether what somebody waits for has come about: the test knows of something new. */
  look(): void {
    for (const again of [...this.waiting]) again();
  }

  /** Waits until something is true of the world, for as long as the process lives. */
  async until(what: () => boolean): Promise<void> {
    if (await this.lives(what)) return;
    throw new Error(`the worker ended too early: ${this.stderr} ${JSON.stringify(this.said)}`);
  }

  /** The same, for a process that may be killed before: it tells whether it was there until then. */
  async lives(what: () => boolean): Promise<boolean> {
    while (!what()) {
      if (this.gone) return false;
      await new Promise<void>((resolve) => {
        const again = () => {
          this.waiting.delete(again);
          resolve();
        };
        this.waiting.add(again);
      });
    }
    return true;
  }

  /** What it has said since it was last asked, of which nothing may be a fault. */
  *heard(): Iterable<{ readonly run: string; readonly status: string }> {
    for (const { run, status, fault } of this.said.splice(0)) {
      if (fault !== undefined) throw new Error(`${run} could not be driven: ${fault.message} (${fault.code})`);
      if (status !== undefined) yield { run, status };
    }
  }

  /** kill -9: it has no chance to say a last word. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.over;
  }

  /** SIGSTOP and SIGCONT: it sleeps, and knows nothing of it. */
  sleep(): void {
    this.child.kill("SIGSTOP");
  }

  wake(): void {
    this.child.kill("SIGCONT");
  }

  /** Lets it come to a good end. */
  async stop(): Promise<void> {
    this.child.stdin?.write("stop\n");
    await this.over;
    if (this.child.exitCode !== 0) throw new Error(`the worker ended with ${this.child.exitCode}: ${this.stderr}`);
  }

  [Symbol.dispose](): void {
    this.child.kill("SIGKILL");
  }
}
