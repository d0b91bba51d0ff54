import { expect, test } from "vitest";
import { findWarnings } from "./lockfiles.js";

const MANIFEST = { engines: { node: ">=20.19" }, allowScripts: { "@a/allowed": true, denied: false } };

function warnings(path: string, locked: object): readonly string[] {
  const lockfile = { packages: { "": {}, [path]: locked } };
  return findWarnings("package-lock.json", JSON.stringify(lockfile), JSON.stringify(MANIFEST));
}

test.for([
  ["is for a newer Node", { engines: { node: ">=22" } }, "needs Node >=22, and 20.19.0 is allowed"],
  ["is for a newer Node of the same major", { engines: { node: "^20.20 || >=22" } }, "needs Node"],
  ["is deprecated", { deprecated: "use b" }, "is deprecated: use b"],
  ["has a script that nobody has read", { hasInstallScript: true }, "has an install script"],
  ["names where it is from", { resolved: "https://registry.example/a.tgz" }, "names a registry"],
] as const)("npm would warn of a package that %s", ([, locked, complaint]) => {
  expect(warnings("node_modules/b/node_modules/a", locked)).toEqual([
    expect.stringContaining(`package-lock.json:1 node_modules/b/node_modules/a ${complaint}`),
  ]);
});

test.for([
  ["node_modules/a", { engines: { node: "^20.19.0 || >=22.12.0" } }],
  ["node_modules/a", { version: "1.0.0" }],
  ["node_modules/b/node_modules/@a/allowed", { hasInstallScript: true }],
  ["node_modules/denied", { hasInstallScript: true }],
  ["node_modules/bursar", { resolved: "packages/bursar", link: true }],
] as const)("npm would not warn of %s, %o", ([path, locked]) => {
  expect(warnings(path, locked)).toEqual([]);
});
