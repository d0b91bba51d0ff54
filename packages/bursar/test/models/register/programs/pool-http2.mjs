// A program whose requests share one connection over HTTP/2, which is opened for one that costs nothing.
import { H2CClient, setGlobalDispatcher } from "undici";

const [provider] = process.argv.slice(2);
setGlobalDispatcher(new H2CClient(provider));
const body = JSON.stringify({ model: "scripted", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] });
const look = fetch(`${provider}/v1/models`).then(({ status }) => ({ value: "look", status }));
const calls = Array.from({ length: 4 }, async () => {
  const { status } = await fetch(`${provider}/v1/chat/completions`, { method: "POST", body });
  return { value: "call", status };
});
const outcomes = await Promise.all(
  [look, ...calls].map((each) => each.catch(({ cause }) => ({ error: cause?.message }))),
);
console.log(JSON.stringify(outcomes));
process.exit(0);
