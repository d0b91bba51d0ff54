import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { findCommentedOutCode } from "./tidy/comments.js";
import { findForbiddenSyntax, findMockedModules, findSilencedTests, findUnfinished } from "./tidy/habits.js";
import { findEscapingImports, findPrivateImports, findStrayImports } from "./tidy/imports.js";
import { findBrokenLinks, findUnknownScripts } from "./tidy/links.js";
import { findWarnings } from "./tidy/lockfiles.js";
import { findStrayEntries } from "./tidy/places.js";
import { findImpurity, findWaiting } from "./tidy/purity.js";
import { packageOf } from "./tidy/rooms.js";
import { findUnreadable, parse } from "./tidy/source.js";
import { read, repositoryFiles } from "./tidy/tree.js";

const files = repositoryFiles();
const sources = files.filter((file) => /\.[cm]?[jt]sx?$/.test(file)).map((file) => parse(file, read(file)));
const pages = new Map(files.filter((file) => file.endsWith(".md")).map((file) => [file, read(file)]));
// The specifications are fixed, with links to pages that are not ours.
const ourPages = [...pages.keys()].filter((file) => !file.startsWith("specs/"));
const manifests = files.filter((file) => /^(?:packages\/[^/]+|apps\/[^/]+|bench)\/package\.json$/.test(file));
const packages = manifests.map((file) => packageOf(posix.dirname(file), read(file)));
const lockfiles = files.filter((file) => posix.basename(file) === "package-lock.json");

describe("imports", () => {
  test("follow the arrows of the design", () => {
    expect(sources.flatMap(findStrayImports)).toEqual([]);
  });

  test("reach other packages by their public names", () => {
    expect(sources.flatMap(findEscapingImports)).toEqual([]);
    expect(sources.flatMap((source) => findPrivateImports(source, packages))).toEqual([]);
  });
});

describe("decisions", () => {
  test("are pure", () => {
    expect(sources.flatMap(findImpurity)).toEqual([]);
  });

  test("wait for nothing", () => {
    expect(sources.flatMap(findWaiting)).toEqual([]);
  });
});

describe("sources", () => {
  test("can be read", () => {
    expect(sources.flatMap(findUnreadable)).toEqual([]);
  });

  test("keep to the language we write", () => {
    expect(sources.flatMap(findForbiddenSyntax)).toEqual([]);
  });

  test("put nothing off", () => {
    expect(sources.flatMap(findUnfinished)).toEqual([]);
  });

  test("hold no code in comments", () => {
    expect(sources.flatMap(findCommentedOutCode)).toEqual([]);
  });
});

describe("tests", () => {
  test("run, all of them", () => {
    expect(sources.flatMap(findSilencedTests)).toEqual([]);
  });

  test("use real parts", () => {
    expect(sources.flatMap(findMockedModules)).toEqual([]);
  });
});

describe("the repository", () => {
  test("holds nothing to wonder about", () => {
    expect(findStrayEntries(files)).toEqual([]);
  });

  test("is installed without a warning, from any registry", () => {
    const manifestOf = (file: string) => read(posix.join(posix.dirname(file), "package.json"));

    expect(lockfiles.flatMap((file) => findWarnings(file, read(file), manifestOf(file)))).toEqual([]);
  });

  test("has links that lead somewhere", () => {
    expect(ourPages.flatMap((file) => findBrokenLinks(file, pages, files))).toEqual([]);
  });

  test("names scripts that exist", () => {
    const scripts = { root: scriptsOf(["package.json"]), workspaces: scriptsOf(manifests) };

    expect(ourPages.flatMap((file) => findUnknownScripts(file, pages.get(file) ?? "", scripts))).toEqual([]);
  });
});

function scriptsOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => Object.keys(JSON.parse(read(path)).scripts ?? {}));
}
