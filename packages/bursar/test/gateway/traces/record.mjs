// Records what the official Python clients write on the wire: see README.md.
//
//   PYTHONPATH=<where the clients are> node packages/bursar/test/gateway/traces/record.mjs [python3]
//
// Each client is sent through a real gateway before a scripted provider. It has to understand the answer, and to show a refusal
// without trying again; only then is its request kept.
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openBudget, openStore } from "bursar";
import { openGateway } from "bursar/gateway";
import { openScriptedModel } from "bursar/testing";

const HERE = new URL("./", import.meta.url);
const CLIENTS = fileURLToPath(new URL("clients.py", HERE));
const MODELS = ["gpt-4o", "claude-sonnet-4-5", "text-embedding-3-small"];
const NOT_INSTALLED = 3;
const [python = "python3"] = process.argv.slice(2);
const run = promisify(execFile);

/** Answers everybody alike, but for whoever is to find the provider busy at first. */
function script({ body, headers }) {
  if (body.user === "busy at first" && headers["x-stainless-retry-count"] === "0") {
    return { kind: "status", status: 429, retry_after_s: 0 };
  }
  return { kind: "text", text: "Hello." };
}

/** Something that passes on all that comes, and keeps it: the requests, as they stood on the wire. */
async function openTap(url) {
  const { hostname, port } = new URL(url);
  const connections = [];
  const server = createServer((client) => {
    const pieces = [];
    connections.push(pieces);
    const gateway = connect(Number(port), hostname);
    client.on("data", (piece) => pieces.push(piece));
    client.pipe(gateway).pipe(client);
    for (const socket of [client, gateway]) {
      socket.on("error", () => {
        client.destroy();
        gateway.destroy();
      });
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => server.close(),
    requests: () => connections.flatMap((pieces) => requestsIn(Buffer.concat(pieces))),
  };
}

/** Cuts what came on one connection into requests, which have a length each. */
function requestsIn(bytes) {
  const requests = [];
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf("\r\n\r\n") + 4;
    const head = rest.subarray(0, end).toString("latin1");
    const length = /^content-length: (\d+)\r$/im.exec(head)?.[1];
    if (end < 4 || length === undefined) throw new Error(`a request without a length: ${rest.toString("latin1")}`);
    requests.push({ head, body: rest.subarray(end, end + Number(length)).toString("utf8") });
    rest = rest.subarray(end + Number(length));
  }
  return requests;
}

/** Lets a client do something; null where it is not installed. */
async function ask(name, gateway, secret) {
  const tap = await openTap(gateway.url);
  try {
    const { stdout } = await run(python, [CLIENTS, name, tap.url, secret], { timeout: 60_000 });
    return { outcome: JSON.parse(stdout), requests: tap.requests(), host: new URL(tap.url).host };
  } catch (error) {
    if (error.code === NOT_INSTALLED) return null;
    throw error;
  } finally {
    tap.close();
  }
}

function check(name, what, found) {
  if (!what) throw new Error(`${name}: ${JSON.stringify(found)}`);
}

const model = await openScriptedModel({ script, models: MODELS });
const store = await openStore("memory:");
await openBudget({ cost_usd: 1 }, { store, name: "rich" });
await openBudget({ steps: 0 }, { store, name: "poor" });
const gateway = await openGateway({ store, upstreams: [{ name: "provider", url: model.url, key: "none" }] });
const rich = await gateway.keys.create({ budget: "rich", label: "rich" });
const poor = await gateway.keys.create({ budget: "poor", label: "poor" });
const { stdout: names } = await run(python, [CLIENTS]);
for (const name of JSON.parse(names)) {
  const asked = await ask(name, gateway, rich.secret);
  if (asked === null) {
    console.log(`${name}: not installed`);
    continue;
  }
  const { outcome, requests, host } = asked;
  const isCount = name.endsWith("-count");
  check(name, isCount ? outcome.said > 0 : outcome.said === "Hello.", outcome);
  check(name, requests.length === (name.endsWith("-again") ? 2 : 1), requests);
  if (!isCount) {
    const refused = await ask(name, gateway, poor.secret);
    check(name, refused.outcome.status === 402 && refused.requests.length === 1, refused);
    check(name, refused.outcome.message.includes("budget_exceeded"), refused);
  }
  const { head, body } = requests.at(-1);
  const kept = head.replaceAll("\r\n", "\n").replace(host, "{{host}}").replace(rich.secret, "{{key}}") + body;
  check(name, !/bursar_/.test(kept), kept);
  const { client, version } = outcome;
  const file = `${client}-${version}${name.slice(client.length)}.http`;
  await rm(new URL(file, HERE), { force: true });
  await writeFile(new URL(file, HERE), kept);
  console.log(file);
}
await gateway[Symbol.asyncDispose]();
await model[Symbol.asyncDispose]();
