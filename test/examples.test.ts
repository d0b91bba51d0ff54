import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FENCE = /^```ts\n([\s\S]*?)^```$/gm;

/** The TypeScript examples a reader may copy, by the place they stand in. */
function examples(): { place: string; code: string }[] {
  // The reference is made from code that was compiled already, and is full of signatures.
  const docs = ["docs", "docs/guides"].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  );
  const pages = ["README.md", ...docs.filter((name) => name.endsWith(".md"))];
  return pages.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    return [...text.matchAll(FENCE)].map(({ 1: code = "", index }) => ({
      place: `${page}:${text.slice(0, index).split("\n").length}`,
      code,
    }));
  });
}

test("every example in the documentation compiles against what is published", () => {
  const folder = join(ROOT, "node_modules", ".cache", "examples");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const all = examples();
  all.forEach(({ place, code }, index) => {
    writeFileSync(join(folder, `example-${index}.ts`), `// ${place}\n${code}\nexport {};\n`);
  });
  const compilerOptions = { noEmit: true, composite: false, types: ["node"] };
  const config = { extends: join(ROOT, "tsconfig.base.json"), compilerOptions, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));

  expect(all.length).toBeGreaterThan(2);
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  expect(() => execFileSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8", stdio: "pipe" })).not.toThrow();
});
