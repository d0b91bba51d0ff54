import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { openScriptedModel, type ScriptedModel } from "bursar/testing";

/**
 * Where a worker can be stopped: before it sends a request to the model, while the model has it, when the answer has come and
 * is not written yet, while a tool works (then the model's answer is written), and when a run was claimed and nothing more.
 */
export type Door = "unsent" | "in flight" | "unwritten" | "tool" | "resuming";

/** Somebody stands before a door. */
export interface Visit {
  readonly door: Door;
  readonly run: string;
  /** The effect's name, the same for every try of it; empty where it is about the whole run. */
  readonly key: string;
  /** Each turn of a program is a call of the model, and one of the tool. */
  readonly turn: number;
  /** Who stands there; empty for the model, which does not know. */
  readonly worker: string;
}

/** The world of the workers: a scripted model, a tool, and doors. Everything that gets through is counted. */
export class Doors implements AsyncDisposable {
  /** How often the model was asked and the tool was used, by the effect's key. */
  readonly asked: Map<string, number> = new Map();
  readonly used: Map<string, number> = new Map();
  /** Whether a door stays shut for whoever stands before it; he waits there until it is known. */
  shut: (visit: Visit) => boolean | Promise<boolean> = () => false;
  private readonly server: Server;
  private readonly model: ScriptedModel;

  static async open(): Promise<Doors> {
    let doors: Doors | null = null;
    const model = await openScriptedModel({
      script: async ({ headers, text }) => {
        const key = decodeURIComponent(headers["idempotency-key"] ?? "");
        return (await doors?.answers(key)) === true ? String(numberFor(text)) : { kind: "hang" };
      },
    });
    const server = createServer((incoming, response) => {
      void doors?.serve(incoming).then((answer) => {
        if (answer !== null) response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    doors = new Doors(server, model);
    return doors;
  }

  private constructor(server: Server, model: ScriptedModel) {
    this.server = server;
    this.model = model;
  }

  /** What a worker has to know of them. */
  get places(): { readonly doors: string; readonly model: string } {
    const { port } = this.server.address() as AddressInfo;
    return { doors: `http://127.0.0.1:${port}`, model: this.model.url };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await this.model[Symbol.asyncDispose]();
  }

  /** Whether the model answers at all. */
  private async answers(key: string): Promise<boolean> {
    this.asked.set(key, (this.asked.get(key) ?? 0) + 1);
    return !(await this.shut(visitAt("in flight", key, "")));
  }

  /** What is said to whoever stands before a door; null to let him stand there. */
  private async serve(incoming: IncomingMessage): Promise<unknown> {
    const door = (incoming.url ?? "/").slice(1) as Door;
    let text = "";
    for await (const piece of incoming) text += String(piece);
    const { key = "", part = "", worker = "", a = 0, b = 0 } = JSON.parse(text) as Record<string, never>;
    if (door === "tool") this.used.set(key, (this.used.get(key) ?? 0) + 1);
    const [run = ""] = String(part).split(":");
    const visit = door === "resuming" ? { door, run, key: "", turn: 0, worker } : visitAt(door, key, worker);
    if (await this.shut(visit)) return null;
    return door === "tool" ? a + b : {};
  }
}

function visitAt(door: Door, key: string, worker: string): Visit {
  const [run = "", number = "0"] = key.split("/");
  return { door, run, key, turn: Math.floor(Number(number) / 2), worker };
}

/** The same for the same question, whenever it is asked. */
function numberFor(text: string): number {
  return [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7);
}
