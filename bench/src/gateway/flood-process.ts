import { request } from "node:http";
import { connect } from "node:net";

/*
 * Run by bench/floods in a process of its own: two loops that send 30 MB to a key that is used up, while they are told to, and as many
 * connections as it is told to open, on which nothing is sent.
 */

const [, , port = "0", secret = ""] = process.argv;
const LOOPS = 2;
const body = Buffer.from(
  JSON.stringify({ model: "gpt-4o", max_tokens: 10, messages: [{ role: "user", content: "word ".repeat(6_000_000) }] }),
);
const headers = { "content-length": body.length, authorization: `Bearer ${secret}` };
let isOn = false;
let answered = 0;

function ask(): Promise<void> {
  return new Promise((resolve) => {
    const where = { host: "127.0.0.1", port: Number(port), path: "/v1/chat/completions", method: "POST" };
    const sent = request({ ...where, headers }, (answer) => {
      answered++;
      answer.resume().on("close", resolve);
    });
    sent.on("error", () => resolve());
    sent.end(body);
  });
}

async function loop(): Promise<void> {
  while (isOn) await ask();
}

async function openIdle(count: number): Promise<void> {
  const together = 200;
  for (let opened = 0; opened < count; opened += together) {
    await Promise.all(
      Array.from(
        { length: together },
        () =>
          new Promise<void>((resolve) => {
            const socket = connect(Number(port), "127.0.0.1", () => resolve());
            socket.on("error", () => resolve());
          }),
      ),
    );
  }
}

process.on("message", async (told: { readonly flood?: boolean; readonly idle?: number }) => {
  if (told.idle !== undefined) await openIdle(told.idle);
  if (told.flood === true) {
    isOn = true;
    for (let each = 0; each < LOOPS; each++) void loop();
  }
  if (told.flood === false) isOn = false;
  process.send?.({ answered });
});
process.send?.({ answered });
