import { posix } from "node:path";
import { expect, test } from "vitest";
import { findBrokenLinks, findUnknownScripts } from "./repository/links.js";
import { findWarnings } from "./repository/lockfiles.js";
import { read, repositoryFiles } from "./repository/tree.js";

const files = repositoryFiles();
const pages = new Map(files.filter((file) => file.endsWith(".md")).map((file) => [file, read(file)]));
// The specifications are fixed, and some of their links lead to pages outside of the repository.
const ourPages = [...pages.keys()].filter((file) => !file.startsWith("specs/"));
const manifests = files.filter((file) => /^(?:packages\/[^/]+|apps\/[^/]+|bench)\/package\.json$/.test(file));
const lockfiles = files.filter((file) => posix.basename(file) === "package-lock.json");
const sources = files.filter((file) => /\.[cm]?[jt]sx?$/.test(file) && file !== "test/repository.test.ts");

test("no source puts work off", () => {
  expect(sources.filter((file) => /\b(?:TODO|FIXME|XXX|HACK)\b/.test(read(file)))).toEqual([]);
});

test("npm installs without a warning, from any registry", () => {
  const manifestOf = (file: string) => read(posix.join(posix.dirname(file), "package.json"));

  expect(lockfiles.flatMap((file) => findWarnings(file, read(file), manifestOf(file)))).toEqual([]);
});

test("links lead somewhere", () => {
  expect(ourPages.flatMap((file) => findBrokenLinks(file, pages, files))).toEqual([]);
});

test("pages name scripts that exist", () => {
  const scripts = { root: scriptsOf(["package.json"]), workspaces: scriptsOf(manifests) };

  expect(ourPages.flatMap((file) => findUnknownScripts(file, pages.get(file) ?? "", scripts))).toEqual([]);
});

function scriptsOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => Object.keys(JSON.parse(read(path)).scripts ?? {}));
}
