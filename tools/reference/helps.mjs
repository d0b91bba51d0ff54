// Prints, as JSON, what `bursar` and each of its commands say with `--help`. All of them are asked in this one process, because to start one
// for each takes a minute on a busy machine; its own process, because a command line takes over signals and standard output.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./root.mjs";

const MAIN = pathToFileURL(join(ROOT, "apps/cli/dist/main.js"));
/** A command's commands have none below them. */
const DEPTH = 2;

process.setMaxListeners(0);
process.stdout.setMaxListeners(0);
const write = process.stdout.write.bind(process.stdout);
let times = 0;
const all = await helpBelow([]);
write(JSON.stringify(all));
process.exitCode = 0;

async function helpBelow(words) {
  const text = await help(words);
  const names = words.length < DEPTH ? namesIn(text).filter((name) => name !== "help") : [];
  const below = [];
  for (const name of names) below.push(...(await helpBelow([...words, name])));
  // A command that knows no help of its own for a word answers with that of the whole; once is enough.
  return [{ words, text }, ...below.filter((each) => each.text !== text)];
}

/** The program reads its arguments when it is loaded, so it is loaded anew under another name each time. */
async function help(words) {
  let said = "";
  process.argv = [process.execPath, MAIN.pathname, ...words, "--help"];
  process.stdout.write = (text) => {
    said += text;
    return true;
  };
  await import(`${MAIN.href}?${times++}`);
  process.stdout.write = write;
  if (process.exitCode !== 0 || said === "") throw new Error(`bursar ${words.join(" ")} --help fails; build it first`);
  return said;
}

/** The names in the list of commands; a line that is indented further belongs to the one before. */
function namesIn(text) {
  const [, list = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(text) ?? [];
  return [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name);
}
