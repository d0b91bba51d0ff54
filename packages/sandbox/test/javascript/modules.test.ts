import { describe, expect, test } from "vitest";
import { Bench } from "./fixture.js";

const FILES = {
  "/app/a.js": `import { b } from "./lib/b.js"; export const a = "a" + b;`,
  "/app/lib/b.js": `export { c as b } from "../c";`,
  "/app/c.mjs": `export const c = "c";`,
  "/app/folder/index.js": `export default "index";`,
  "/app/odd.js": `import { isEven } from "./even.js"; export const isOdd = (n) => n !== 0 && isEven(n - 1);`,
  "/app/even.js": `import { isOdd } from "./odd.js"; export const isEven = (n) => n === 0 || isOdd(n - 1);`,
  "/app/data.json": `{ "name": "json", "__proto__": 1 }`,
  "/app/broken.json": `{ name }`,
  "/app/throws.js": `throw new Error("in module");`,
  "/app/syntax.js": `export const = 1;`,
  "/app/slow.js": `export const value = await new Promise((resolve) => setTimeout(() => resolve("slow"), 10));`,
  "/data/modules/tiny.js": `export default "tiny";`,
  "/data/modules/packed/package.json": `{ "exports": { ".": { "import": "./dist/main.js" } } }`,
  "/data/modules/packed/dist/main.js": `import { part } from "./part.js"; export const packed = part;`,
  "/data/modules/packed/dist/part.js": `import tiny from "tiny"; export const part = "part of " + tiny;`,
  "/data/modules/@scope/pkg/index.js": `export default "scoped";`,
  "/data/modules/escaping/package.json": `{ "main": "../../../app/c.mjs" }`,
};

const bench = new Bench(FILES);

describe("import", () => {
  test.for([
    [`import { a } from "./a.js"; console.log(a);`, "ac\n"],
    [`import { a } from "/app/a.js"; console.log(a);`, "ac\n"],
    [`import index from "./folder"; console.log(index);`, "index\n"],
    [`import { isEven } from "./even.js"; console.log(isEven(10), isEven(7));`, "true false\n"],
    [`import data from "./data.json"; console.log(data.name);`, "json\n"],
    [
      `import data from "./data.json" with { type: "json" }; console.log(Object.keys(data));`,
      "[ 'name', '__proto__' ]\n",
    ],
    [`import tiny from "tiny"; console.log(tiny);`, "tiny\n"],
    [`import { packed } from "packed"; console.log(packed);`, "part of tiny\n"],
    [`import scoped from "@scope/pkg"; console.log(scoped);`, "scoped\n"],
    [`import { value } from "./slow.js"; console.log(value);`, "slow\n"],
    [`const { a } = await import("./a.js"); console.log(a);`, "ac\n"],
    [`import * as all from "./c.mjs"; console.log(all);`, "[Module: null prototype] { c: 'c' }\n"],
    [
      `import * as os from "qjs:os"; import * as std from "qjs:std"; console.log(typeof os.readdir, typeof std.open)`,
      "function function\n",
    ],
    [`export const x = 1; console.log(this);`, "undefined\n"],
    [`/* import x */ var sloppy = "import"; console.log(typeof sloppy, this === globalThis);`, "string true\n"],
  ] as const)("%s", async ([code, expected]) => {
    expect(await bench.print(code)).toBe(expected);
  });

  test.for([
    [`import "./missing.js"`, "Error: Cannot find module './missing.js' imported from <main>"],
    [
      `import "missing"`,
      "Error: Cannot find module 'missing' imported from <main>; modules without a path are looked for in /data/modules",
    ],
    [`await import("missing")`, "Error: Cannot find module 'missing'"],
    [`import "escaping"`, "Error: Cannot find module 'escaping'"],
    [`import "tiny/../../../app/a.js"`, "Error: Cannot find module"],
    [`import "bursar:primordials"`, "Error: Cannot find module 'bursar:primordials'"],
    [`import "./primordials.js"`, "Error: Cannot find module './primordials.js'"],
    [`import "./broken.json"`, "Error: Cannot load module '/app/broken.json': it is not valid JSON"],
    [`import "./throws.js"`, "Error: in module\n    at <anonymous> (/app/throws.js:1"],
    [`import "./syntax.js"`, "SyntaxError: "],
    [`import { nope } from "./c.mjs"`, "SyntaxError: "],
    [`import ""`, "Error: Cannot find module ''"],
  ] as const)("%s fails", async ([code, message]) => {
    const { outcome, err } = await bench.run(code);

    expect(outcome).toEqual({ kind: "ended", exit_code: 1 });
    expect(err).toContain(message);
  });

  test.for([
    [`console.log(1); import tiny from "tiny"; console.log(tiny)`, "1\ntiny\n"],
    [`{ console.log(1) } export { x }; const x = 5;`, "1\n"],
    ["console.log(`; import a from 'b'`)", "; import a from 'b'\n"],
  ] as const)("statements of modules make a module wherever they stand: %s", async ([code, expected]) => {
    expect(await bench.print(code)).toBe(expected);
  });

  test("a script can be made a module, and a module is told what it is named after", async () => {
    expect(await bench.print(`console.log(this)`, { kind: "module" })).toBe("undefined\n");
    const { err } = await bench.run(`throw new Error("named")`, { kind: "module", name: "/app/lib/named.js" });
    expect(err).toContain("/app/lib/named.js:1");
  });

  test("relative names start at the importing file, also that of the program", async () => {
    expect(await bench.print(`import { b } from "./b.js"; console.log(b);`, { name: "/app/lib/main.js" })).toBe("c\n");
  });

  test("what was loaded is told, once", async () => {
    const fresh = new Bench(FILES);
    const names = async () => (await fresh.run(`import "./a.js"; import "tiny";`)).imports.map(({ name }) => name);

    expect(await names()).toEqual(["/app/a.js", "/app/lib/b.js", "/app/c.mjs", "/data/modules/tiny.js"]);
    expect(await names()).toEqual([]);
  });
});
