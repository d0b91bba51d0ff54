import { type HostileProgram, LITTLE_FUEL, SHORT } from "../hostile-program.js";

const language = "javascript";
const options = { fuelBudget: LITTLE_FUEL };
const SMALL = { memoryLimit: 32 * 1024 * 1024, fuelBudget: 1_000_000_000 };
const FULL = ["badly", "memory_limit", "out_of_fuel"] as const;
const DEEP = ["badly", "stack_overflow"] as const;

/** JavaScript that runs for ever, grows for ever, or tampers with what runs it. */
export const javascriptPrograms: readonly HostileProgram[] = [
  { name: "a loop", language, options, code: "for (;;) {}", ends: "out_of_fuel" },
  {
    name: "a loop that catches everything",
    language,
    options,
    code: "for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }",
    ends: "out_of_fuel",
  },
  {
    name: "generators without an end",
    language,
    options,
    code: "function* more() { try { for (;;) yield* [1, 2]; } finally { yield* more(); } }\nlet sum = 0; for (const x of more()) sum += x;",
    ends: "out_of_fuel",
  },
  {
    name: "promises that make promises",
    language,
    options,
    code: "const again = () => Promise.resolve().then(again); await again();",
    ends: ["out_of_fuel", "memory_limit"],
  },
  {
    name: "timers without an end",
    language,
    options,
    code: "const again = () => setTimeout(again, 0); again(); setInterval(() => {}, 0);",
    ends: "out_of_fuel",
  },
  {
    name: "a thenable that is never done",
    language,
    options,
    code: "await { then(resolve) { resolve(this); } };",
    ends: "out_of_fuel",
  },
  {
    name: "a regular expression that tries everything",
    language,
    options,
    code: "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    ends: "out_of_fuel",
  },
  {
    name: "sleeps for ever",
    language,
    run: { timeout: SHORT },
    code: "import * as os from 'os'; os.sleep(1e12);",
    ends: "timeout",
  },
  {
    name: "waits for a timer that is due in three weeks",
    language,
    run: { timeout: SHORT },
    code: "setTimeout(() => console.log('late'), 2e9);",
    ends: "timeout",
  },
  {
    name: "burns its time and never its fuel",
    language,
    options: { fuelBudget: Number.MAX_SAFE_INTEGER },
    run: { timeout: SHORT },
    code: "for (;;) {}",
    ends: "timeout",
  },
  {
    name: "waits for nobody",
    language,
    code: "await new Promise(() => {});",
    ends: "badly",
  },
  { name: "recursion", language, code: "const again = () => again() + 1; again();", ends: DEEP },
  {
    name: "recursion through getters, proxies, conversions and comparisons",
    language,
    code: `
const trap = { get: (target, name, self) => self[name], has: (target, name) => name in deep, apply: () => deep() };
const deep = new Proxy(function () {}, trap);
const text = { toString() { return "" + text; } };
const json = { toJSON() { return JSON.stringify(json); } };
const sorts = () => [1, 2].sort(sorts);
const replaces = () => "a".replace(/a/, replaces);
for (const use of [() => deep.x, () => "x" in deep, () => deep(), () => "" + text, () => JSON.stringify(json), sorts, replaces]) {
  try { use(); console.log("did"); } catch { console.log("noticed"); }
}`,
    ends: ["well", ...DEEP],
  },
  {
    name: "values that are nested without measure",
    language,
    options: { fuelBudget: 1_000_000_000 },
    code: `
let nested = [];
for (let at = 0; at < 50_000; at++) nested = [nested];
for (const use of [() => JSON.stringify(nested), () => JSON.parse("[".repeat(50_000)), () => String(nested), () => nested.flat(Infinity), () => console.log(nested)]) {
  try { use(); } catch (error) { console.log("noticed"); }
}`,
    ends: ["well", "out_of_fuel", ...DEEP],
  },
  {
    name: "sources that are nested without measure",
    language,
    code: `
for (const source of ["(".repeat(50_000), "[".repeat(50_000), "-".repeat(1) + "!".repeat(50_000) + "1", "a=>".repeat(20_000) + "1", "{".repeat(50_000), "\`\${".repeat(20_000), "/" + "(".repeat(50_000) + "/"]) {
  try { eval(source); } catch { console.log("noticed"); }
}`,
    ends: ["well", ...DEEP],
  },
  {
    name: "arrays, texts and buffers without measure",
    language,
    options: SMALL,
    code: `
for (const make of [() => "x".repeat(2 ** 30), () => new ArrayBuffer(2 ** 40), () => new Uint8Array(2 ** 31), () => new Array(2 ** 32), () => "x".padStart(2 ** 30 - 1),
                    () => new ArrayBuffer(8, { maxByteLength: 2 ** 31 }).resize(2 ** 31), () => 2n ** (2n ** 40n), () => new SharedArrayBuffer(2 ** 33)]) {
  try { make(); console.log("did"); } catch { console.log("refused"); }
}`,
    ends: ["well", ...FULL],
    says: "refused\n".repeat(8),
  },
  {
    name: "an array that grows",
    language,
    options: SMALL,
    code: "const rows = []; for (;;) rows.push({ a: [1] });",
    ends: FULL,
  },
  {
    name: "a text that doubles",
    language,
    options: SMALL,
    code: "let text = 'x'; for (;;) text = JSON.stringify(text + text);",
    ends: FULL,
  },
  {
    name: "memory that is refused, again and again",
    language,
    options: { ...SMALL, fuelBudget: LITTLE_FUEL },
    code: "const held = []; for (;;) { try { held.push(new Uint8Array(1_000_000).fill(1)); } catch {} }",
    ends: ["memory_limit", "out_of_fuel"],
  },
  {
    name: "numbers without measure",
    language,
    options: { ...SMALL, fuelBudget: LITTLE_FUEL },
    code: "let number = 3n; for (;;) number *= number;",
    ends: FULL,
  },
  {
    name: "standard output without an end",
    language,
    options: { ...options, limits: { stdout_bytes: 10_000 } },
    code: "for (;;) console.log('x'.repeat(1000));",
    ends: "out_of_fuel",
    truncated: ["stdout"],
  },
  {
    name: "standard error without an end",
    language,
    options: { ...options, limits: { stderr_bytes: 10_000 } },
    code: "for (;;) console.error('x'.repeat(1000));",
    ends: "out_of_fuel",
    truncated: ["stderr"],
  },
  {
    name: "an error with a message of many megabytes",
    language,
    options: { limits: { stderr_bytes: 10_000 } },
    code: "throw new Error('x'.repeat(5_000_000));",
    ends: "badly",
    truncated: ["stderr"],
  },
  {
    name: "many promises that are rejected at once",
    language,
    options: { limits: { stderr_bytes: 100_000 } },
    code: "for (let at = 0; at < 20_000; at++) Promise.reject(new Error('x'.repeat(100)));",
    ends: "badly",
  },
  {
    name: "threads, processes and WebAssembly",
    language,
    code: `
import * as os from "os";
import * as std from "std";
console.log(typeof WebAssembly);
for (const use of [() => new os.Worker("./x.js"), () => os.exec(["id"]), () => os.kill(1, 9), () => os.dup(1), () => os.pipe(), () => os.signal(2, () => {}),
                   () => std.popen("id", "r"), () => std.urlGet("http://127.0.0.1/"), () => os.waitpid(-1, 0), () => std.fdopen(3, "r")]) {
  try { console.log("did", use()); } catch { console.log("refused"); }
}`,
    ends: "well",
    says: `undefined\n${"refused\n".repeat(10)}`,
  },
  {
    name: "waits on shared memory",
    language,
    run: { timeout: SHORT },
    code: "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0);",
    ends: ["badly", "timeout"],
  },
  {
    name: "the way to the host's own constructors",
    language,
    code: `
const found = [];
for (const value of [console.log, host, host.call, setTimeout, scriptArgs, (await import("std")).open, (await import("os")).readdir, new Error().stack]) {
  for (let at = value; at !== null && at !== undefined; at = Object.getPrototypeOf(at)) {
    try { found.push(at.constructor.constructor("return typeof process + typeof require + typeof globalThis.process")()); } catch {}
  }
}
console.log([...new Set(found)].join());
try { console.log(Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith("bursar")).length); } catch {}`,
    ends: "well",
    says: "undefinedundefinedundefined\n0\n",
  },
  {
    name: "replaces what its own runtime needs",
    language,
    code: `
const wrong = () => { throw 1; };
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const value = globalThis[name];
  if (typeof value !== "function" || value.prototype === undefined) continue;
  for (const holder of [value, value.prototype]) {
    for (const key of Reflect.ownKeys(holder)) { try { Object.defineProperty(holder, key, { get: wrong, set: wrong }); } catch {} }
  }
}
Object.defineProperty(Object.prototype, "then", { get: wrong });
Object.defineProperty(Object.prototype, "value", { set: wrong });
for (const name of ["JSON", "Promise", "Array", "Map", "console", "Error", "Symbol", "host"]) globalThis[name] = undefined;`,
    ends: ["well", "badly"],
  },
  {
    name: "an error that lies about itself",
    language,
    code: `
const liar = new Proxy(new Error("x"), { get() { throw liar; }, getPrototypeOf() { throw liar; }, ownKeys() { throw liar; } });
Error.prepareStackTrace = () => { throw liar; };
throw liar;`,
    ends: "badly",
  },
  {
    name: "arguments that would change a prototype",
    language,
    run: { handlers: { take: (args) => Object.assign({}, args as object) } },
    code: `
for (const args of [JSON.parse('{"__proto__":{"polluted":1}}'), JSON.parse('[[{"a":{"__proto__":{"polluted":1}}}]]')]) {
  try { console.log("did", await host.call("take", args)); } catch { console.log("refused"); }
}
for (const name of ["__proto__", "constructor", "toString"]) { try { console.log("did", await host.call(name)); } catch { console.log("refused"); } }`,
    ends: "well",
    says: "refused\n".repeat(5),
  },
  {
    name: "arguments that are nested without measure",
    language,
    run: { handlers: { take: () => 1 } },
    code: `
let nested = [];
for (let at = 0; at < 3000; at++) nested = [nested];
try { console.log("did", await host.call("take", nested)); } catch { console.log("refused"); }`,
    ends: "well",
    says: "refused\n",
  },
  {
    name: "asks more questions at once than the host takes",
    language,
    code: `
let refused = 0;
for (let at = 0; at < 3000; at++) host.call("x", at).catch(() => { refused++; });
await null;
console.log(refused);
(await import("std")).exit(0);`,
    ends: "well",
    says: "2000\n",
  },
  {
    name: "writes as much as it may after every question",
    language,
    options: { ...options, limits: { stdout_bytes: 10_000, stderr_bytes: 10_000 } },
    run: { handlers: { x: () => 1 } },
    code: "for (;;) { await host.call('x'); console.log('o'.repeat(9000)); console.error('e'.repeat(9000)); }",
    ends: "out_of_fuel",
    truncated: ["stdout", "stderr"],
  },
  {
    name: "leaves with something that is no code",
    language,
    code: "import * as std from 'std'; std.exit({ valueOf() { std.exit(Symbol()); } });",
    ends: ["well", "badly"],
  },
  {
    name: "programs made of programs",
    language,
    options,
    code: "import * as std from 'std'; globalThis.source = 'std.evalScript(source); eval(source)'; globalThis.std = std; std.evalScript(source);",
    ends: ["badly", "out_of_fuel", "stack_overflow"],
  },
];
