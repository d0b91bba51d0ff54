// A program that has one request sent by a thread or a child process, in each of the ways that Node has for it.
import childProcess, { execFileSync, execSync, fork, spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

const [kind, folder, url] = process.argv.slice(2);
const { PATH } = process.env;
const asked = JSON.stringify({ model: "scripted", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] });
const sending = `fetch(${JSON.stringify(url)}, { method: "POST", body: ${JSON.stringify(asked)} })`;
const script = `${sending}.then(({ status }) => console.log(status), ({ message }) => console.log(message));`;
const module = `import { env } from "node:process"; console.log(env && (await ${sending}).status);`;
const file = join(folder, "sends.cjs");
const es = join(folder, "sends.mjs");
writeFileSync(file, script);
writeFileSync(es, module);

function thread(code, options = {}) {
  return new Promise((resolve) => {
    const worker = new Worker(code, { ...options, stdout: true });
    let text = "";
    worker.stdout.on("data", (piece) => {
      text += piece;
    });
    worker.on("error", ({ message }) => resolve(message));
    worker.on("exit", () => setImmediate(() => resolve(text.trim())));
  });
}

function child(started, input) {
  return new Promise((resolve) => {
    let text = "";
    started.stdout.on("data", (piece) => {
      text += piece;
    });
    started.stdin?.end(input);
    started.on("close", () => resolve(text.trim()));
  });
}

class Mine extends Worker {}

const ways = {
  "thread: script": () => thread(script, { eval: true }),
  "thread: script, no flags": () => thread(script, { eval: true, execArgv: [] }),
  "thread: script, no environment": () => thread(script, { eval: true, env: {} }),
  "thread: script, neither": () => thread(script, { eval: true, env: {}, execArgv: [] }),
  "thread: module": () => thread(module, { eval: true }),
  "thread: module by a flag": () => thread(script, { eval: true, execArgv: ["--input-type=module"] }),
  "thread: data": () => thread(new URL(`data:text/javascript,${encodeURIComponent(module)}`), { execArgv: [] }),
  "thread: file": () => thread(file),
  "thread: file, no flags": () => thread(file, { execArgv: [] }),
  "thread: file, no environment": () => thread(es, { env: {} }),
  "thread: file, neither": () => thread(es, { env: { A: "b" }, execArgv: ["--no-warnings"] }),
  "thread: in a thread": () =>
    thread(
      `const { Worker } = require("node:worker_threads"); delete process.env.NODE_OPTIONS; new Worker(${JSON.stringify(script)}, { eval: true, execArgv: [] });`,
      { eval: true, execArgv: [] },
    ),
  "thread: of a class of its own": () => {
    const worker = new Mine("", { eval: true });
    return new Promise((resolve) =>
      worker.on("exit", () =>
        resolve(worker instanceof Mine && worker instanceof Worker ? thread(script, { eval: true }) : "no"),
      ),
    );
  },
  spawn: () => child(spawn("node", [file])),
  "spawn: no environment": () => child(spawn(process.execPath, [file], { env: {} })),
  "spawn: options of its own": () =>
    child(spawn(process.execPath, [file], { env: { NODE_OPTIONS: "--max-old-space-size=200" } })),
  "spawn: another budget": () =>
    child(
      spawn(process.execPath, [file], {
        env: { BURSAR_BUDGET: "steps=99", BURSAR_NAME: "mine", BURSAR_STORE: "memory:" },
      }),
    ),
  "spawn: another folder": () => child(spawn(process.execPath, [file], { cwd: tmpdir() })),
  "spawn: by a shell": () => child(spawn(`exec node ${file}`, { shell: true, env: { PATH } })),
  "spawn: code": () => child(spawn("node", ["-e", script])),
  "spawn: module": () => child(spawn("node", ["--input-type=module", "-e", module], { env: { PATH } })),
  "spawn: read": () => child(spawn("node", ["-"], { env: { PATH } }), script),
  fork: () => child(fork(file, { silent: true })),
  "fork: neither": () => child(fork(file, { silent: true, execArgv: [], env: {}, cwd: tmpdir() })),
  exec: () => child(childProcess.exec(`node ${file}`, { env: { PATH } })),
  execFile: () => child(childProcess.execFile(process.execPath, [file], { env: {} })),
  spawnSync: () => spawnSync(process.execPath, [file]).stdout.toString().trim(),
  "spawnSync: options": () => spawnSync(process.execPath, [file], { env: {}, encoding: "utf8" }).stdout.trim(),
  "spawnSync: a shell": () => spawnSync(`node ${file}`, { shell: true, env: { PATH }, encoding: "utf8" }).stdout.trim(),
  execFileSync: () => execFileSync(process.execPath, [file], { env: {} }).toString().trim(),
  execSync: () => execSync(`node ${file}`, { env: { PATH } }).toString().trim(),
  "spawn: without what was inherited": () => {
    delete process.env.NODE_OPTIONS;
    delete process.env.BURSAR_STORE;
    return child(spawn(process.execPath, [file]));
  },
};

const outcomes = [];
for (const [name, way] of Object.entries(ways)) {
  if (name.startsWith("thread") === (kind === "thread")) outcomes.push({ value: name, text: await way() });
}
console.log(JSON.stringify(outcomes));
