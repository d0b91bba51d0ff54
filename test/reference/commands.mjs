import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./root.mjs";

const MAIN = join(ROOT, "apps/cli/dist/main.js");
const AT_ONCE = 4;
/** A command's commands have none below them. */
const DEPTH = 2;

/** What every command says of itself, asked as a user would ask. */
export async function commandsPage() {
  const all = await helpBelow([]);
  const parts = all.map(({ words, text }) => {
    const title = words.length === 0 ? "bursar" : `bursar ${words.join(" ")}`;
    return `${words.length < 2 ? "##" : "###"} ${title}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``;
  });
  return {
    file: "commands.md",
    title: "Commands",
    about: "What `bursar` and each of its commands say with `--help`.",
    text: `# Commands\n\nWhat each command says with \`--help\`.\n\n${parts.join("\n\n")}\n`,
  };
}

async function helpBelow(words) {
  const text = await help(words);
  const names = words.length < DEPTH ? namesIn(text).filter((name) => name !== "help") : [];
  const below = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    below.push(...(await Promise.all(names.slice(at, at + AT_ONCE).map((name) => helpBelow([...words, name])))));
  }
  // A command that knows no help of its own for a word answers with that of the whole; once is enough.
  return [{ words, text }, ...below.flat().filter((each) => each.text !== text)];
}

async function help(words) {
  const env = { ...process.env, NO_COLOR: "1", COLUMNS: "80", BURSAR_STORE: "", BURSAR_CONFIG: "" };
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...words, "--help"], { env, timeout: 60_000 });
  return stdout;
}

/** The names in the list of commands; a line that is indented further belongs to the one before. */
function namesIn(text) {
  const [, list = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(text) ?? [];
  return [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name);
}
