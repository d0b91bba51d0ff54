import { parentPort, workerData } from "node:worker_threads";
import type { FromWriter, ToWriter, WriterOptions } from "./messages.js";
import { pack } from "./packed.js";
import { Writer } from "./writer.js";

/** How often it is looked whether another process has written, while somebody here waits for that. */
const LOOK_MS = 50;

const port = parentPort;
if (port === null) throw new Error("this file is started by the SQLite store, as a thread of its own");

const send = (message: FromWriter): void => port.postMessage(message);

try {
  const writer = new Writer(workerData as WriterOptions, (replies) => send({ replies: JSON.stringify(replies) }));
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
