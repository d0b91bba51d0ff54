// Asks a provider several times, one after another, and says what came of each; then it has nothing to do, and has to end by
// itself. A process of its own, because which certificates are trusted is read when one starts.
import { setImmediate } from "node:timers/promises";
import { Sender } from "../../../dist/gateway/sender.js";

const [, , ...addresses] = process.argv;
const sender = Sender.open({ connect_ms: 60_000, answer_ms: 60_000, silence_ms: 60_000 });
for (const address of addresses) {
  const sending = { method: "POST", url: new URL(address), headers: {} };
  const outcome = await sender
    .send(sending, "{}", new AbortController().signal)
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
