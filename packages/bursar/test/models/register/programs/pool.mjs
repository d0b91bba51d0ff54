// A program whose requests wait for one connection, which is opened for one that costs nothing.
import { Agent, setGlobalDispatcher } from "undici";

const [provider] = process.argv.slice(2);
setGlobalDispatcher(new Agent({ connections: 1, pipelining: 1 }));
const body = JSON.stringify({ model: "scripted", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] });
const look = fetch(`${provider}/v1/models`).then(({ status }) => ({ value: "look", status }));
const calls = Array.from({ length: 4 }, async () => {
  const { status } = await fetch(`${provider}/v1/chat/completions`, { method: "POST", body });
  return { value: "call", status };
});
console.log(JSON.stringify(await Promise.all([look, ...calls])));
