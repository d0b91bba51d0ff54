import { parentPort, workerData } from "node:worker_threads";
import { StoreError } from "../durable/errors.js";
import type { FromWriter, Reply, ToWriter, WriterOptions } from "./messages.js";
import { pack } from "./packed.js";
import { Writer } from "./writer.js";

/** How often it is looked whether another process has written, while somebody here waits for that. */
const LOOK_MS = 50;

const port = parentPort;
if (port === null) throw new Error("this file is started by the SQLite store, as a thread of its own");

const send = (message: FromWriter): void => port.postMessage(message);

/** Replies that are too long for one text together go one by one, and one that is too long by itself says so. */
function answer(replies: readonly Reply[]): void {
  let text: string;
  try {
    text = JSON.stringify(replies);
  } catch (cause) {
    const [first] = replies;
    if (replies.length > 1) for (const reply of replies) answer([reply]);
    else if (first !== undefined) answer([{ id: first.id, error: pack(tooLong(cause)) }]);
    return;
  }
  send({ replies: text });
}

function tooLong(cause: unknown): StoreError {
  const problem =
    "the answer is too long to be handed over; what was to be written was written: ask for less at a time";
  return new StoreError("store_failed", problem, { cause });
}

try {
  const writer = new Writer(workerData as WriterOptions, answer);
  let looking: NodeJS.Timeout | null = null;
  const look = () => {
    if (writer.changed()) send({ changed: true });
  };
  port.on("message", async (message: ToWriter) => {
    if (message === "watch") looking ??= setInterval(look, LOOK_MS);
    else if (message === "rest") {
      if (looking !== null) clearInterval(looking);
      looking = null;
    } else if (message === "close") {
      if (looking !== null) clearInterval(looking);
      await writer.close();
      port.close();
    } else writer.take(message);
  });
  send({ ready: true });
} catch (error) {
  send({ failed: pack(error) });
}
