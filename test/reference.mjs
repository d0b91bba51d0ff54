// Writes docs/REFERENCE from the code: what the packages export, what the commands say of themselves, the HTTP API, configuration,
// dimensions and errors. It needs everything built. `--check` writes nothing, and fails when a page is
// stale; `--folder` says where the pages are.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { commandsPage } from "./reference/commands.mjs";
import { configurationPage } from "./reference/configuration.mjs";
import { dimensionsPage } from "./reference/dimensions.mjs";
import { exportsMaps } from "./reference/entries.mjs";
import { entryPages } from "./reference/entry-pages.mjs";
import { errorsPage } from "./reference/errors.mjs";
import { ROOT } from "./reference/root.mjs";
import { routesPage } from "./reference/routes.mjs";

const { values } = parseArgs({
  options: { check: { type: "boolean" }, folder: { type: "string", default: join(ROOT, "docs", "REFERENCE") } },
});
const pages = await allPages();
if (values.check) check(pages, values.folder);
else write(pages, values.folder);

/** Every page by its file name. */
async function allPages() {
  const entries = exportsMaps();
  const all = [
    ...entryPages(entries),
    commandsPage(),
    await routesPage(),
    configurationPage(),
    dimensionsPage(),
    errorsPage(entries),
  ];
  return new Map([...all, indexPage(all)].map(({ file, text }) => [file, text]));
}

function indexPage(all) {
  const rows = all.map(({ file, title, about }) => `| [${title}](${file}) | ${about} |`);
  const text = `# Reference

Made from the code by \`npm run docs\`; a test fails when it is stale. Whatever is not named here is not public.

| page | what it has |
|---|---|
${rows.join("\n")}
`;
  return { file: "README.md", text };
}

function write(fresh, folder) {
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) if (!fresh.has(file)) rmSync(join(folder, file));
  for (const [file, text] of fresh) writeFileSync(join(folder, file), text);
  console.log(`${fresh.size} pages in ${folder}`);
}

function check(fresh, folder) {
  const there = existsSync(folder) ? readdirSync(folder) : [];
  const stale = [...fresh].filter(
    ([file, text]) => !there.includes(file) || text !== readFileSync(join(folder, file), "utf8"),
  );
  const names = [...stale.map(([file]) => file), ...there.filter((file) => !fresh.has(file))];
  for (const file of names) console.error(`${join(folder, file)} is stale; run npm run docs`);
  if (names.length > 0) process.exitCode = 1;
  else console.log(`${fresh.size} pages are what the code says`);
}
