// Checks what a user would install: every public package, as npm packs it. It needs the packages built, and no network.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const root = fileURLToPath(new URL("../", import.meta.url));
const attw = fileURLToPath(new URL("dist/index.js", import.meta.resolve("@arethetypeswrong/cli/package.json")));
const workspaces = JSON.parse(execFileSync("npm", ["query", ".workspace"], { cwd: root, encoding: "utf8" }));
const names = workspaces.filter(({ private: hidden }) => hidden !== true).map(({ name }) => name);
if (names.length === 0) throw new Error("there is no public package to check; is `workspaces` in package.json right?");

for (const name of names) {
  const complaints = await complaintsAbout(name);
  console.log(`${name}: ${complaints.length === 0 ? "fit" : "not fit"} to be published`);
  for (const complaint of complaints) console.log(complaint);
  if (complaints.length > 0) process.exitCode = 1;
}

async function complaintsAbout(name) {
  const folder = mkdtempSync(join(tmpdir(), "bursar-pack-"));
  try {
    const options = ["--ignore-scripts", "--silent", "--json", "--pack-destination", folder];
    const said = execFileSync("npm", ["pack", "-w", name, ...options], { cwd: root, encoding: "utf8" });
    const files = new Set(Object.values(JSON.parse(said))[0].files.map(({ path }) => path));
    const tarball = join(folder, readdirSync(folder)[0]);
    const own = complaintsOfPages(name, files);
    // Whoever has nothing to import has no types that could be wrong.
    return [...own, ...(await complaintsOfPublint(tarball)), ...(exportsOf(name) ? complaintsOfAttw(tarball) : [])];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function exportsOf(name) {
  return workspaceOf(name).exports;
}

function workspaceOf(name) {
  return workspaces.find((each) => each.name === name);
}

/** What a registry shows of a package, and what has to come with every copy of it. */
function complaintsOfPages(name, files) {
  const missing = ["LICENSE", "README.md", ...pagesNamedIn(name)].filter((page) => !files.has(page));
  if (missing.length > 0) return missing.map((page) => `there is no ${page} in it`);
  const page = readFileSync(join(root, workspaceOf(name).location, "README.md"), "utf8");
  const paths = Object.keys(exportsOf(name) ?? {}).filter((path) => path !== "./package.json");
  const unnamed = paths.map((path) => posix.join(name, path)).filter((path) => !page.includes(`\`${path}\``));
  return unnamed.map((path) => `its README.md does not say what ${path} is for`);
}

/** The pages of `docs` that its code refers its users to. */
function pagesNamedIn(name) {
  const file = join(root, workspaceOf(name).location, "src", "analysis", "docs.ts");
  return existsSync(file) ? new Set(readFileSync(file, "utf8").match(/docs\/\w+\.md/g)) : [];
}

async function complaintsOfPublint(tarball) {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  return messages.map((message) => `publint, ${message.type}: ${formatMessage(message, pkg, { color: false })}`);
}

function complaintsOfAttw(tarball) {
  const options = ["--profile", "esm-only", "--no-definitely-typed", "--no-emoji"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [attw, tarball, ...options], { encoding: "utf8" });
  return status === 0 ? [] : [`are the types wrong: ${stdout}${stderr}`];
}
