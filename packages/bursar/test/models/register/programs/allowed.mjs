// A program that has a request with a member that an operator has to allow sent by a child process with an environment of its own.
import { spawnSync } from "node:child_process";

const [url, allowed] = process.argv.slice(2);
const messages = [{ role: "user", content: "Hi" }];
const asked = JSON.stringify({ model: "scripted", max_tokens: 9, messages, fallbacks: ["scripted"] });
const sending = `fetch(${JSON.stringify(url)}, { method: "POST", body: ${JSON.stringify(asked)} })`;
const script = `${sending}.then(({ status }) => console.log(status), ({ message }) => console.log(message));`;
const env = allowed === undefined ? {} : { BURSAR_ALLOW: allowed };
const { stdout } = spawnSync(process.execPath, ["-e", script], { env, encoding: "utf8" });
console.log(JSON.stringify([{ text: stdout.trim() }]));
