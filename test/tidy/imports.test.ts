import { describe, expect, test } from "vitest";
import { findEscapingImports, findPrivateImports, findStrayImports } from "./imports.js";
import { packageOf, ROOMS } from "./rooms.js";
import { parse } from "./source.js";

const src = "packages/bursar/src";

describe("a stray import is", () => {
  test.for([
    ["up, from core to ports", `${src}/core/a.ts`, 'import type { Clock } from "../ports/clock.js";'],
    ["up, from a folder inside core", `${src}/core/chain/a.ts`, 'import { b } from "../../runtime/b.js";'],
    ["up, from ports to the runtime", `${src}/ports/a.ts`, 'import type { Gate } from "../runtime/gate.js";'],
    ["up, from the runtime to an adapter", `${src}/runtime/a.ts`, 'import { MemoryStore } from "../stores/memory.js";'],
    ["up, to the face of the package", `${src}/stores/a.ts`, 'import { Gate } from "../index.js";'],
    ["sideways, between adapters", `${src}/models/a.ts`, 'import { b } from "../stores/b.js";'],
    ["sideways, from the tests' helpers", `${src}/testing/a.ts`, 'import { b } from "../stores/b.js";'],
    ["a re-export", `${src}/core/a.ts`, 'export { b } from "../runtime/b.js";'],
    ["a re-export of everything", `${src}/core/a.ts`, 'export * from "../runtime/b.js";'],
    ["a dynamic import", `${src}/core/a.ts`, 'const b = () => import("../runtime/b.js");'],
    ["the import of a type in place", `${src}/core/a.ts`, 'type B = import("../runtime/b.js").B;'],
    ["a package in core", `${src}/core/a.ts`, 'import { parse } from "yaml";'],
    ["a package in the runtime", `${src}/runtime/a.ts`, 'import { parse } from "yaml";'],
    ["a built-in in core", `${src}/core/a.ts`, 'import { createHash } from "node:crypto";'],
    ["a built-in in ports", `${src}/ports/a.ts`, 'import type { Server } from "node:http";'],
    ["a session in the pure analysis", "packages/sandbox/src/analysis/a.ts", 'import { b } from "../sessions/b.js";'],
  ] as const)("%s", ([, file, text]) => {
    expect(findStrayImports(parse(file, text))).toEqual([expect.stringMatching(/^packages\/\S+\.ts:1 imports /)]);
  });

  test.for([
    ["down", `${src}/runtime/a.ts`, 'import { b } from "../core/b.js";\nimport type { C } from "../ports/c.js";'],
    ["within a room", `${src}/core/chain/a.ts`, 'import { b } from "../b.js";\nimport { c } from "./c.js";'],
    ["a built-in in the runtime", `${src}/runtime/a.ts`, 'import { createHash } from "node:crypto";'],
    ["a package in an adapter", `${src}/stores/a.ts`, 'import pg from "pg";'],
    ["the face of the package", `${src}/index.ts`, 'export { b } from "./stores/b.js";'],
    ["a test", "packages/bursar/test/core/a.test.ts", 'import { b } from "../../src/stores/b.js";'],
    ["an import in a string", `${src}/core/a.ts`, "const text = 'import { b } from \"../runtime/b.js\"';"],
  ] as const)("not %s", ([, file, text]) => {
    expect(findStrayImports(parse(file, text))).toEqual([]);
  });

  test("the whole file, in a folder without arrows", () => {
    expect(findStrayImports(parse(`${src}/helpers/a.ts`, ""))).toEqual([
      expect.stringContaining("no room of the design"),
    ]);
  });
});

test("no room can be reached from below, so the arrows have no circle", () => {
  for (const rooms of Object.values(ROOMS)) {
    const below = (room: string): readonly string[] =>
      (rooms[room]?.imports ?? []).flatMap((each) => [each, ...below(each)]);

    for (const room of Object.keys(rooms)) expect(below(room)).not.toContain(room);
  }
});

describe("an escaping import is", () => {
  test.for([
    ["from an app into a package", "apps/cli/src/a.ts", "../../../packages/bursar/src/core/b.js"],
    ["from a package into an app", `${src}/gateway/a.ts`, "../../../../apps/cli/src/b.js"],
    ["from a package into its tests", `${src}/core/a.ts`, "../../test/core/naive.js"],
    ["from an example into a package", "examples/a.ts", "../packages/bursar/dist/index.js"],
  ] as const)("%s", ([, file, name]) => {
    expect(findEscapingImports(parse(file, `import { b } from "${name}";`))).toEqual([
      expect.stringMatching(/:1 imports \S+, which is outside /),
    ]);
  });

  test.for([
    ["a neighbour", "apps/cli/src/a.ts", "./commands/b.js"],
    ["from a test", "apps/cli/test/a.test.ts", "../../../packages/bursar/src/core/b.js"],
    ["from bench", "bench/src/a.ts", "../../packages/bursar/src/core/b.js"],
  ] as const)("not %s", ([, file, name]) => {
    expect(findEscapingImports(parse(file, `import { b } from "${name}";`))).toEqual([]);
  });
});

describe("a private import is", () => {
  const packages = [
    packageOf(
      "packages/bursar",
      '{"name": "bursar", "exports": {".": "./dist/index.js", "./prompt": "./dist/prompt.js"}}',
    ),
    packageOf("packages/sandbox", '{"name": "@bursar/sandbox", "exports": {".": "./dist/index.js"}}'),
    packageOf("apps/cli", '{"name": "@bursar/cli", "exports": {".": "./dist/main.js"}}'),
    packageOf("apps/web", '{"name": "@bursar/web"}'),
  ];

  test.for([
    ["a path into a package", "apps/cli/src/a.ts", "bursar/dist/core/b.js", "not in the exports map"],
    ["a package without a face", "apps/cli/src/a.ts", "@bursar/web", "not in the exports map"],
    ["up, from the library to the sandbox", `${src}/plans/a.ts`, "@bursar/sandbox", "may not know it"],
    ["up, from a package to an app", "packages/sandbox/src/sessions/a.ts", "@bursar/cli", "may not know it"],
    ["sideways, by the package's own name", `${src}/stores/a.ts`, "bursar/prompt", "its own package"],
  ] as const)("%s", ([, file, name, complaint]) => {
    expect(findPrivateImports(parse(file, `import { b } from "${name}";`), packages)).toEqual([
      expect.stringContaining(complaint),
    ]);
  });

  test.for([
    ["a public name", "apps/cli/src/a.ts", "bursar/prompt"],
    ["the sandbox on the library", "packages/sandbox/src/sessions/a.ts", "bursar"],
    ["a package by its own name, in its tests", "packages/bursar/test/a.test.ts", "bursar"],
    ["a stranger with a similar name", "apps/cli/src/a.ts", "bursary/x"],
  ] as const)("not %s", ([, file, name]) => {
    expect(findPrivateImports(parse(file, `import { b } from "${name}";`), packages)).toEqual([]);
  });
});
