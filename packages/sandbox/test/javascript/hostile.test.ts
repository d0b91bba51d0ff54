import { describe, expect, test } from "vitest";
import { Stopped } from "../../src/wasm/outcome.js";
import { Bench, type Ran } from "./fixture.js";

const MIB = 1024 * 1024;
const FUEL = 800_000_000;

type Fate = "out_of_fuel" | "memory_limit" | "stack_overflow" | "ended";

/** Programs that want to harm, and what has to become of them. */
const CORPUS: readonly (readonly [name: string, fate: readonly Fate[], code: string, out?: string])[] = [
  ["a loop without end", ["out_of_fuel"], `while (true) {}`],
  [
    "a loop that catches everything",
    ["out_of_fuel"],
    `while (true) { try { for (;;) {} } catch {} finally { continue; } }`,
  ],
  ["a loop in a finally", ["out_of_fuel"], `try { throw 1; } finally { for (;;); }`],
  [
    "a loop in a getter that console looks at",
    ["ended"],
    `console.log({ get a() { for (;;); } })`,
    "{ a: [Getter] }\n",
  ],
  [
    "a loop in toString when it is thrown",
    ["ended"],
    `throw { toString() { for (;;); }, [Symbol.toPrimitive]() { for (;;); } }`,
  ],
  [
    "a loop in a proxy that is printed",
    ["ended"],
    `console.log(new Proxy({}, { ownKeys() { for (;;); }, get() { for (;;); } }))`,
    "{}\n",
  ],
  [
    "a loop in the prototype of what is printed",
    ["out_of_fuel"],
    `console.log(Object.create(new Proxy({}, { getPrototypeOf() { for (;;); }, getOwnPropertyDescriptor() { for (;;); } })))`,
  ],
  ["a loop in a module", ["out_of_fuel"], `import "./loop.js"`],
  [
    "reactions that make reactions",
    ["out_of_fuel", "memory_limit"],
    `const again = () => Promise.resolve().then(again); again();`,
  ],
  ["await without end", ["out_of_fuel"], `for (;;) await null;`],
  ["a thenable that calls itself", ["out_of_fuel"], `const t = { then(resolve) { resolve(t); } }; await t;`],
  ["timers that make timers", ["out_of_fuel"], `const again = () => setTimeout(again, 0); again();`],
  ["an interval without end", ["out_of_fuel"], `setInterval(() => {}, 1)`],
  [
    "an async generator without end",
    ["out_of_fuel"],
    `async function* g() { for (;;) yield 1; } for await (const x of g());`,
  ],
  ["a regular expression that explodes", ["out_of_fuel"], `/^(a+)+$/.test("a".repeat(40) + "b")`],
  ["a regular expression that explodes backwards", ["out_of_fuel"], `/(?<=(.*.*)*)x$/.test("y".repeat(5000))`],
  ["sorting without end", ["out_of_fuel"], `[1, 2].sort(() => { for (;;); })`],
  ["a huge loop in the engine", ["out_of_fuel", "memory_limit"], `Array(2 ** 32 - 1).fill(0)`],
  ["a sparse array that is joined", ["out_of_fuel", "memory_limit", "ended"], `const a = []; a[4e9] = 1; a.join("x")`],
  ["a number with many digits", ["out_of_fuel", "memory_limit", "ended"], `let n = 3n; for (;;) n = n ** 3n;`],
  ["recursion", ["ended", "stack_overflow"], `function f() { return f() + 1; } f();`],
  [
    "recursion that catches",
    ["out_of_fuel", "stack_overflow", "ended"],
    `function f() { try { f(); } catch { f(); } } f();`,
  ],
  ["recursion through the engine", ["ended", "stack_overflow"], `const f = () => [1].map(f); f();`],
  ["recursion in toString", ["ended", "stack_overflow"], `const o = { toString() { return "" + o; } }; "" + o;`],
  ["deep JSON", ["ended", "stack_overflow"], `JSON.parse("[".repeat(1e5))`],
  ["deep source", ["ended", "stack_overflow"], `eval("(".repeat(1e5))`],
  ["a deep regular expression", ["ended", "stack_overflow"], `new RegExp("(?:".repeat(2e4) + ")".repeat(2e4))`],
  [
    "a deep value that is printed",
    ["ended"],
    `let a = []; for (let i = 0; i < 1e4; i++) a = [a]; console.log(a); a = null;`,
    "[ [ [ [Array] ] ] ]\n",
  ],
  [
    "a deep chain of proxies",
    ["ended", "stack_overflow"],
    `let p = {}; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); console.log(p); p.x;`,
  ],
  [
    "a deep chain of causes",
    ["ended"],
    `let e; for (let i = 0; i < 1e4; i++) e = new Error("e", { cause: e }); throw e;`,
  ],
  ["memory by arrays", ["memory_limit"], `const a = []; for (;;) a.push(new Array(1e5).fill(a.length));`],
  [
    "memory by doubling text",
    ["memory_limit", "ended"],
    `let s = "x".repeat(1000); for (;;) { s += s; s.charCodeAt(s.length - 1); }`,
  ],
  ["memory by buffers", ["memory_limit", "ended"], `const a = []; for (;;) a.push(new ArrayBuffer(10 * 1024 * 1024));`],
  ["memory by objects", ["memory_limit"], `let a; for (;;) a = { a, b: [a] };`],
  [
    "memory by functions",
    ["memory_limit", "out_of_fuel"],
    `const a = []; for (let i = 0; ; i++) a.push(eval("() => " + "i + ".repeat(1000) + i));`,
  ],
  [
    "memory that is caught and kept",
    ["memory_limit", "ended", "out_of_fuel"],
    `globalThis.a = []; for (;;) try { for (;;) a.push({ a: new Array(100) }); } catch { break; }`,
  ],
  ["one huge allocation", ["memory_limit", "ended"], `new Uint8Array(3e9)`],
  ["a huge text", ["memory_limit", "ended"], `"x".repeat(2 ** 30 - 100)`],
  ["output without end", ["out_of_fuel"], `for (;;) console.log("x".repeat(10000))`],
  ["one huge line", ["ended", "memory_limit"], `console.log("x".repeat(5e6))`],
  [
    "a huge value that is printed",
    ["ended"],
    `console.log(Object.fromEntries(Array.from({ length: 1500 }, (_, i) => ["k" + i, "v".repeat(100)])))`,
  ],
  ["many rejections", ["ended"], `for (let i = 0; i < 5000; i++) Promise.reject(i);`],
  ["many timers", ["ended"], `for (let i = 0; i < 20000; i++) setTimeout(() => {}, 1);`],
  [
    "source without end",
    ["ended", "memory_limit", "out_of_fuel"],
    `let s = "1"; for (let i = 0; i < 22; i++) s += "+" + s; eval(s);`,
  ],
];

/** Programs that change the ground under our own code, and what they may print then. */
const POLLUTION: readonly (readonly [name: string, code: string])[] = [
  [
    "array methods",
    `for (const k of Object.getOwnPropertyNames(Array.prototype)) if (typeof [][k] === "function" && k !== "constructor") Array.prototype[k] = () => { throw "polluted"; };`,
  ],
  ["iteration", `Array.prototype[Symbol.iterator] = function* () { throw "polluted"; };`],
  [
    "setters on indexes",
    `for (let i = 0; i < 10; i++) Object.defineProperty(Array.prototype, i, { set() { throw "polluted"; }, get() { return "polluted"; } });`,
  ],
  [
    "properties of all objects",
    `for (const k of ["get", "set", "value", "enumerable", "alone", "next", "kind", "then", "path", "due"]) Object.defineProperty(Object.prototype, k, { __proto__: null, get() { throw "polluted"; }, set() { throw "polluted"; }, configurable: true });`,
  ],
  [
    "text and numbers",
    `for (const P of [String, Number, BigInt, Symbol, RegExp, Map, Set, Date]) for (const k of Object.getOwnPropertyNames(P.prototype)) { try { if (k !== "constructor") P.prototype[k] = () => { throw "polluted"; }; } catch {} }`,
  ],
  [
    "functions",
    `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw "polluted"; };`,
  ],
  [
    "globals",
    `for (const k of ["Reflect", "JSON", "Object", "Array", "String", "Number", "Map", "Error", "TypeError", "Promise", "Uint8Array", "Math"]) globalThis[k] = undefined;`,
  ],
  [
    "JSON and Reflect",
    `JSON.parse = JSON.stringify = Reflect.apply = Reflect.ownKeys = Reflect.defineProperty = () => { throw "polluted"; };`,
  ],
  ["promises", `Promise.prototype.then = Promise.resolve = () => { throw "polluted"; };`],
  [
    "errors",
    `Error.prepareStackTrace = () => { throw "polluted"; }; Object.defineProperty(Error.prototype, "message", { get() { throw "polluted"; } });`,
  ],
];

function fateOf({ outcome }: Ran): string {
  return outcome.kind === "trapped" ? outcome.reason : outcome.kind;
}

describe("contained:", () => {
  test.for(CORPUS)("%s", async ([, fates, code, out]) => {
    const bench = new Bench({ "/app/loop.js": "for (;;);", "/app/safe.txt": "safe" }, { memoryLimitBytes: 8 * MIB });
    await bench.print(`globalThis.before = "still here"`);

    const ran = await bench.run(code, { fuel: FUEL, outputBytes: 50_000 });

    expect(fates).toContain(fateOf(ran));
    expect(ran.fuel_consumed).toBeLessThanOrEqual(FUEL);
    expect(ran.memory_bytes).toBeLessThanOrEqual(32 * MIB + 65_536);
    expect(ran.out.length).toBeLessThanOrEqual(50_000);
    expect(ran.err.length).toBeLessThanOrEqual(50_000);
    if (out !== undefined) expect(ran.out).toBe(out);
    const after = await bench.run(`import { loadFile } from "std"; console.log(before, loadFile("safe.txt"));`);
    // Whoever has kept all of the memory, with open eyes, finds none; a reset gives it back.
    if (fateOf(after) === "memory_limit") bench.guest.reset();
    else expect([after.out, after.err]).toEqual(["still here safe\n", ""]);
    expect(await bench.print(`console.log("alive")`)).toBe("alive\n");
  });
});

describe("deterministic:", () => {
  test.for(CORPUS.filter(([, fates]) => fates.includes("stack_overflow") || fates.includes("memory_limit")))(
    "%s",
    async ([, , code]) => {
      const run = async () => {
        const bench = new Bench({}, { memoryLimitBytes: 8 * MIB });
        return bench.run(code, { fuel: FUEL, outputBytes: 1000 });
      };

      expect(await run()).toEqual(await run());
    },
  );
});

describe("pollution of", () => {
  test.for(POLLUTION)("%s leaves our own code as it is", async ([, pollution]) => {
    const bench = new Bench({}, { environment: { NAME: "value" } });
    const { outcome, out, err } = await bench.run(`
      import * as std from "std"; import * as os from "os";
      ${pollution}
      console.log("%s %d", "text", 1, [1, "two"], { a: { b: 1 } });
      console.error(typeof os.readdir("/app")[1]);
      const file = std.open("f", "w"); file.puts("line\\n"); file.close();
      std.puts(std.open("f", "r").getline(), std.sprintf("%05d", 42), std.getenv("NAME"), "\\n");
      setTimeout(() => std.puts("timer\\n"), 1);
      std.puts(await host.call("name", "b"), "\\n");
    `);

    expect([outcome, err]).toEqual([expect.objectContaining({ kind: "pending" }), "number\n"]);
    expect(out).toBe("text 1 [ 1, 'two' ] { a: { b: 1 } }\nline00042value\n");
    const ended = await bench.resume([{ id: 1, value: "answer" }]);
    expect([ended.outcome, ended.out, ended.err]).toEqual([{ kind: "ended", exit_code: 0 }, "answer\ntimer\n", ""]);
  });

  test("thrown values is told without running their code", async () => {
    const { err } = await new Bench().run(`
      const error = new Error("real");
      Object.defineProperty(error, "stack", { get() { throw "polluted"; } });
      Object.defineProperty(error, "name", { get() { throw "polluted"; } });
      Object.setPrototypeOf(error, new Proxy(Error.prototype, { get() { throw "polluted"; } }));
      throw error;`);

    expect(err).toBe("[Error: real]\n");
  });
});

describe("nothing leads out:", () => {
  test.for([
    [
      `Object.getOwnPropertyNames(globalThis).filter((name) => /bursar|process|require|module|fetch/i.test(name))`,
      "[]",
    ],
    [
      `typeof process + typeof require + typeof fetch + typeof WebAssembly + typeof SharedArrayBuffer`,
      "undefinedundefinedundefinedundefinedfunction",
    ],
    [`Object.isFrozen(host) && Object.keys(host).join()`, "call,llm,tool,spawn,sleep,budget"],
    [`host.call.constructor === Function && host.call.constructor("return typeof bursar_call")()`, "undefined"],
    [`(() => { try { bursar_write(1, "forged"); } catch (error) { return error.name; } })()`, "ReferenceError"],
    [`new Error().stack.includes("/work") || new Error().stack.includes("node")`, "false"],
  ] as const)("%s", async ([expression, expected]) => {
    expect(await new Bench().print(`console.log(${expression})`)).toBe(`${expected}\n`);
  });

  test.for([
    `import * as os from "os"; console.log(os.readdir("/../../etc")[1] !== 0, os.readdir("/proc")[1], os.stat("/etc/passwd")[1])`,
    `import * as os from "os"; os.symlink("../../../etc", "l"); console.log(os.readdir("l")[1] !== 0, os.readdir("/proc")[1], os.stat("l/passwd")[1] === 1 ? 2 : os.stat("l/passwd")[1])`,
  ])("%s", async (code) => {
    expect(await new Bench().print(code)).toBe("true 2 2\n");
  });

  test("an error of the host's own functions shows no path of the host", async () => {
    const { err } = await new Bench().run(`import "./missing.js"`);

    expect(err).not.toMatch(/work|packages|node_modules|\.ts/);
  });
});

describe("whoever watches", () => {
  test("can end a program at its deadline, also one that sleeps", async () => {
    const stop = () => {
      throw new Stopped("timeout", "too long");
    };
    for (const code of [`while (true);`, `import * as os from "os"; os.sleep(1e9);`, `setTimeout(() => {}, 1e9);`]) {
      const bench = new Bench({}, { clock: "real" });
      const { outcome, state } = await bench.run(code, { fuel: 1e12, onSlice: stop });

      expect(outcome).toEqual({ kind: "trapped", reason: "timeout", message: "too long" });
      expect(state).toBe("rolled_back");
      expect(await bench.print(`console.log("alive")`)).toBe("alive\n");
    }
  });

  test("can let it burn more while it runs", async () => {
    const bench = new Bench();
    let extended = false;
    const onSlice = () => {
      if (!extended) bench.guest.extend(1_000_000_000);
      extended = true;
    };

    const ran = await bench.run(`for (let i = 0; i < 1e6; i++);`, { fuel: 20_000_000, onSlice });

    expect(ran.outcome).toEqual({ kind: "ended", exit_code: 0 });
    expect(ran.fuel_consumed).toBeGreaterThan(20_000_000);
  });

  test("a fault of the host is not blamed on the guest, and the guest lives", async () => {
    const bench = new Bench();
    const broken = () => {
      throw new TypeError("a fault of the host");
    };

    await expect(bench.run(`while (true);`, { onSlice: broken })).rejects.toThrow("a fault of the host");
    expect(await bench.print(`console.log("alive")`)).toBe("alive\n");
  });
});
