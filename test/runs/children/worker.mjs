// A worker as anybody would run one, but for the doors in its way: at each of them it asks the test whether it may go on, and
// there it can be killed. It is plain JavaScript because Node 20 runs nothing else, and uses the built packages as a user would.
import { writeSync } from "node:fs";
import { openSandbox } from "@bursar/sandbox";
import { defineTool, openBursar, Worker } from "bursar";
import { chatModel } from "bursar/models";
import { PostgresStore } from "bursar/postgres";
import { SqliteStore } from "bursar/sqlite";
import { programs } from "./programs.mjs";

const errand = JSON.parse(process.argv[2] ?? "{}");

/** At once: what stands in a buffer when the process is killed was never said. */
function say(what) {
  writeSync(1, `${JSON.stringify(what)}\n`);
}

/** Waits until the test opens the door, or for good. */
async function pass(door, about) {
  const body = JSON.stringify({ ...about, worker: errand.worker });
  const response = await fetch(`${errand.doors}/${door}`, { method: "POST", body });
  if (!response.ok) throw new Error(`the door ${door} answered ${response.status}`);
  return response.json();
}

/** The store, with a door before the journal of a run that was just claimed: of it nothing is known here yet. */
function doored(store) {
  const journal = async function* (part) {
    const [run] = part.split(":");
    // Before a yes the journal is only looked at.
    if ((await store.document("run", run))?.status === "running") await pass("resuming", { part });
    yield* store.journal(part);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "journal") return journal;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A real model, with a door before each call and one after it. */
function modelOf() {
  const prices = { scripted: { input_usd_per_mtok: 1000, output_usd_per_mtok: 2000 } };
  const model = chatModel({ url: errand.model, model: "scripted", prices });
  return {
    quote: (request) => model.quote(request),
    call: async (request, options) => {
      await pass("unsent", { key: options.key });
      const answer = await model.call(request, options);
      await pass("unwritten", { key: options.key });
      return answer;
    },
  };
}

const add = defineTool({
  name: "add",
  description: "Adds two numbers, somewhere else.",
  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  run: ({ a, b }, { key }) => pass("tool", { key, a, b }),
});

const { address, sandbox: places, worker, starts = [], approves = [], resumes = [], wording = "" } = errand;
const store = address.path === undefined ? await PostgresStore.open(address) : await SqliteStore.open(address);
let opened = null;
const sandbox = () => {
  opened ??= openSandbox({ workers: 2, ...places });
  return opened;
};
const bursar = openBursar({
  store: doored(store),
  programs: programs(sandbox, wording),
  tools: [add],
  model: modelOf(),
  worker,
  claim_ms: errand.claim_ms,
  changed: ({ id, status }) => say({ run: id, status }),
});
const failed = (error, run) => say({ run, fault: { code: error?.code, message: error?.message } });
for (const { program, input, options } of starts) {
  const { id, status } = await bursar.start(program, input, options);
  // A worker that was killed between the end of a run and its last word has told nobody.
  if (["completed", "failed", "cancelled"].includes(status)) say({ run: id, status });
}
const by = { name: "ann", role: "operator" };
for (const { id, extensions } of approves) {
  bursar.approve(`${id}/checkpoint`, { by, extensions }).catch((error) => failed(error, id));
}
for (const id of resumes) await bursar.wake(id, by);
const driving = new Worker({ bursar, most: errand.most ?? 4, every_ms: 50, failed });
driving.start();
// Until it is told to stop, or killed; without the test it has nothing to do here.
process.stdin.once("end", () => process.exit(1));
await new Promise((resolve) => process.stdin.once("data", resolve));
await driving[Symbol.asyncDispose]();
await (await opened)?.[Symbol.asyncDispose]();
await store[Symbol.asyncDispose]();
process.exit(0);
