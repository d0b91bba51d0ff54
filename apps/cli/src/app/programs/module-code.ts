import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { sha256Hex } from "bursar";

/** More than a program has that somebody has written. */
const MOST_FILES = 1000;
/** `import … from "./x.js"`, `export … from`, `import "./x.js"` and `import("./x.js")`, of files beside the module. */
const LOCAL_IMPORT = /\b(?:from|import)\s*\(?\s*(["'])(\.{1,2}\/[^"'\n]+)\1/g;

/**
 * The digest of a module as it stands on the disk, with the files beside it that it imports. Packages do not count: their versions change
 * without a program being another. Null where the module is not there.
 */
export async function digestModule(file: string): Promise<string | null> {
  const root = dirname(resolve(file));
  const texts = new Map<string, string>();
  const waiting = [resolve(file)];
  for (let path = waiting.pop(); path !== undefined && texts.size < MOST_FILES; path = waiting.pop()) {
    if (texts.has(path)) continue;
    // What is not there fails where it is loaded, or stands in a comment.
    const text = await readFile(path, "utf8").catch(() => null);
    if (text === null) continue;
    texts.set(path, text);
    for (const [, , name = ""] of text.matchAll(LOCAL_IMPORT)) waiting.push(resolve(dirname(path), name));
  }
  if (!texts.has(resolve(file))) return null;
  const files = [...texts].map(([path, text]) => [relative(root, path).replaceAll("\\", "/"), text] as const);
  return sha256Hex(JSON.stringify(files.sort(([one], [other]) => (one < other ? -1 : 1))));
}
