// Asks a provider several times, one after another, and says what came of each; then it has nothing to do, and has to end by
// itself. A process of its own, because which certificates are trusted is read when one starts.
import { setImmediate } from "node:timers/promises";
import { Upstream } from "../../../dist/gateway/upstream.js";
import { UpstreamClient } from "../../../dist/gateway/upstream-client.js";

const [, , ...addresses] = process.argv;
const client = new UpstreamClient({ connectMs: 60_000, answerMs: 60_000, silenceMs: 60_000 });
const upstream = new Upstream({ name: "test", url: addresses[0] });
for (const address of addresses) {
  const request = { method: "POST", url: new URL(address), headers: {}, body: "{}" };
  const outcome = await client
    .send(upstream, request, new AbortController().signal)
    .then(async (received) => {
      let body = "";
      // Slowly, so that the connection is held back again and again.
      await received.read(async (piece) => {
        body += piece;
        await setImmediate();
      });
      return { status: received.status, body };
    })
    .catch(({ code, cause }) => ({ code, cause: cause?.code }));
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
