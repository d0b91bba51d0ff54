import { createServer } from "node:http";

/*
 * Run by bench/gateway in a process of its own: a provider that answers at once, or after so many milliseconds as it is told, so that what is measured is the way there. It says
 * where it listens through its channel.
 */

const CHUNKS = 20;
const USAGE = { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 };
const HEAD = { id: "chatcmpl-bench", created: 0, model: "gpt-4o" };
const whole = Buffer.from(
  JSON.stringify({
    ...HEAD,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "word ".repeat(CHUNKS) }, finish_reason: "stop" }],
    usage: USAGE,
  }),
);
const event = (data: object) => `data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", ...data })}\n\n`;
const chunks = Array.from({ length: CHUNKS }, () =>
  event({ choices: [{ index: 0, delta: { content: "word " }, finish_reason: null }] }),
);
const last = event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const usage = event({ choices: [], usage: USAGE });

const server = createServer((incoming, response) => {
  const pieces: Buffer[] = [];
  incoming.on("data", (piece: Buffer) => pieces.push(piece));
  incoming.on("end", () => {
    const after = incoming.headers["x-after"];
    if (after === undefined) tell();
    else setTimeout(tell, Number(after));
  });

  function tell(): void {
    const slow = incoming.headers["x-slow"] !== undefined;
    if (!Buffer.concat(pieces).includes('"stream":true')) {
      response.writeHead(200, { "content-type": "application/json", "content-length": whole.length });
      response.end(whole);
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (slow) return void tellSlowly(0);
    for (const chunk of chunks) response.write(chunk);
    response.write(last);
    response.write(usage);
    response.end("data: [DONE]\n\n");

    function tellSlowly(index: number): void {
      const chunk = chunks[index];
      if (chunk === undefined) return void response.end(`${last}${usage}data: [DONE]\n\n`);
      response.write(chunk);
      setTimeout(() => tellSlowly(index + 1), 250);
    }
  }
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
