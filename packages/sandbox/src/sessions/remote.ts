import { type ChildProcess, fork } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Question, Replied } from "./broker.js";
import { SandboxInputError } from "./input-error.js";
import type { KeeperOptions, Keeping } from "./keeper.js";
import type { Listener } from "./session.js";
import { removeSleepFolder } from "./sleep-folder.js";

interface Waiting {
  readonly listener: Listener | null;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const GOODBYE_MS = 2000;

/**
 * Sessions in a process of their own, which Node lets read its own code and the caches, write the caches, start threads, and
 * nothing else. If a guest should ever get out of WebAssembly, that is where it is.
 */
export class Remote implements AsyncDisposable {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private readonly ended: Promise<void>;
  private next = 1;
  private failure: Error | null = null;

  constructor(options: KeeperOptions, folders: readonly { readonly path: string; readonly writable: boolean }[]) {
    const broker = fileURLToPath(new URL("../bundle/broker.js", import.meta.url));
    this.child = fork(broker, [JSON.stringify(options)], {
      execArgv: [...permissions(options, folders)],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // Secrets of this process are none of the guest's business.
      env: {},
    });
    let said = "";
    this.child.stderr?.on("data", (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-2000);
    });
    this.child.on("message", (replied: Replied) => this.take(replied));
    this.child.on("error", (error) => this.fail(error));
    this.ended = new Promise((resolve) => {
      this.child.on("exit", (code, signal) => {
        this.fail(new Error(`the sandbox's process ended (${signal ?? code}). ${said.trim()}`.trim()));
        removeSleepFolder(options.asleep);
        resolve();
      });
    });
    this.rest();
  }

  /** The sessions over there, with the methods of a keeper. */
  get keeping(): Keeping {
    return new Proxy({} as Keeping, {
      get: (_, method) => (method === "then" ? undefined : (...args: unknown[]) => this.ask(String(method), args)),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.failure ??= new Error("the sandbox is closed; open it again");
    if (this.child.connected) this.child.disconnect();
    // Nothing over there is worth waiting for: what is kept on the disk was written before it was answered.
    if (this.waiting.size === 0) this.child.kill("SIGKILL");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), GOODBYE_MS);
    this.child.ref();
    await this.ended;
    clearTimeout(timer);
  }

  private ask(method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) return reject(this.failure);
      const id = this.next++;
      // A function cannot be sent: it stays here, and what it is to be told comes under the question's number.
      const listener = (args.find((arg) => typeof arg === "function") ?? null) as Listener | null;
      const plain = args.filter((arg) => arg !== listener || listener === null);
      this.waiting.set(id, { resolve, reject, listener });
      this.child.ref();
      this.child.channel?.ref();
      try {
        this.child.send({ id, method, args: plain, listens: listener !== null } satisfies Question);
      } catch (error) {
        // What cannot be sent is waited for by nobody.
        this.waiting.delete(id);
        this.rest();
        reject(error as Error);
      }
    });
  }

  private take(replied: Replied): void {
    const waiting = this.waiting.get(replied.id);
    if ("news" in replied) {
      waiting?.listener?.(replied.news);
      return;
    }
    this.waiting.delete(replied.id);
    this.rest();
    if ("value" in replied) waiting?.resolve(replied.value);
    else waiting?.reject(unpack(replied.error));
  }

  /** The process keeps ours alive only while somebody waits for it. */
  private rest(): void {
    if (this.waiting.size > 0) return;
    this.child.unref();
    this.child.channel?.unref();
    (this.child.stderr as unknown as { unref?: () => void } | null)?.unref?.();
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.values()) reject(this.failure);
    this.waiting.clear();
  }
}

function unpack({ name, message, field }: { name: string; message: string; field?: string }): Error {
  if (name === "SandboxInputError" && field !== undefined) {
    return new SandboxInputError(field, message.slice(field.length + 1));
  }
  return Object.assign(new Error(message), { name });
}

/** Node's permission model, as narrow as it goes. */
function permissions(
  { cache, guests, installed, packages, python }: KeeperOptions,
  folders: readonly { readonly path: string; readonly writable: boolean }[],
): readonly string[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const flag = major > 23 || (major === 23 && minor >= 5) ? "--permission" : "--experimental-permission";
  const own = fileURLToPath(new URL("../..", import.meta.url));
  const quickjs = createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm");
  const modules = [python, realpathSync(quickjs)].map((file) => dirname(file));
  const reads = [
    realpathSync(own),
    ...modules,
    cache,
    packages,
    ...[guests, installed].filter((folder) => folder !== null),
    ...folders.map(({ path }) => path),
  ];
  const writes = [cache, ...folders.filter(({ writable }) => writable).map(({ path }) => path)];
  return [
    flag,
    "--allow-worker",
    // Modules come whole from the cache, and each function is still looked through before it runs for the first time.
    "--wasm-lazy-validation",
    "--no-warnings",
    ...reads.map((path) => `--allow-fs-read=${path.replace(/\/$/, "")}/*`),
    ...writes.map((path) => `--allow-fs-write=${path.replace(/\/$/, "")}/*`),
  ];
}
