// Checks what a user would install: every public package, as npm packs it. It needs the packages built, and no network.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
    const options = ["--ignore-scripts", "--silent", "--pack-destination", folder];
    execFileSync("npm", ["pack", "-w", name, ...options], { cwd: root });
    const tarball = join(folder, readdirSync(folder)[0]);
    // Whoever has nothing to import has no types that could be wrong.
    return [...(await complaintsOfPublint(tarball)), ...(exportsOf(name) ? complaintsOfAttw(tarball) : [])];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function exportsOf(name) {
  return workspaces.find((each) => each.name === name).exports !== undefined;
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
