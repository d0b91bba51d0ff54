import { expect, test } from "vitest";
import { findStrayEntries } from "./places.js";
import { ignoredBy } from "./tree.js";

test.for([
  ["notes.txt", "notes.txt"],
  ["scripts/build.js", "scripts"],
  [".cache/a", ".cache"],
  ["packages/utils/src/a.ts", "packages/utils"],
  ["apps/admin/src/a.ts", "apps/admin"],
  ["docs/draft.docx", "docs/draft.docx"],
  ["docs/old.md.bak", "docs/old.md.bak"],
] as const)("%s is a stray", ([file, stray]) => {
  expect(findStrayEntries([file, file])).toEqual([expect.stringContaining(`${stray}:1 has no place`)]);
});

test.for(["README.md", "packages/bursar/src/index.ts", "apps/web/index.html", "docs/GUIDE.md", "docs/images/gate.svg"])(
  "%s is no stray",
  (file) => {
    expect(findStrayEntries([file])).toEqual([]);
  },
);

test("files that git ignores are not looked at", () => {
  const ignored = ignoredBy("node_modules/\n# a comment\n*.tsbuildinfo\nbench/results/\n/top\n");

  expect(
    [".git", "a/node_modules", "a/b.tsbuildinfo", "bench/results", "top"].filter((path) => !ignored(path)),
  ).toEqual([]);
  expect(["a/results", "tsbuildinfo", "a/top", "node_modules_2", ".gitignore"].filter(ignored)).toEqual([]);
});
