// The licences of packages whose code is bundled: they have to come with every copy.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folders of the packages that these modules belong to. */
export function packageFolders(moduleIds) {
  const folders = moduleIds.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

/** The name of a package, and its section in a list of licences. */
export function licenseSection(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each) && existsSync(join(folder, each)));
  const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  return { name, section: `## ${name} - ${version} (${license})\n${text}` };
}
