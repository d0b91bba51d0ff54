import { posix } from "node:path";
import { withFolders } from "./paths.js";

/** Relative links of a page that lead nowhere: no such file, or no such heading in it. */
export function findBrokenLinks(
  file: string,
  pages: ReadonlyMap<string, string>,
  files: readonly string[],
): readonly string[] {
  const known = withFolders(files);
  return linksIn(pages.get(file) ?? "").flatMap(({ target, line }) => {
    if (/^(?:[a-z][a-z+.-]*:|\/\/)/i.test(target)) return [];
    const [path = "", anchor] = target.split("#");
    const linked =
      path === ""
        ? file
        : posix.join(path.startsWith("/") ? "" : posix.dirname(file), decodeURI(path)).replace(/^\/|\/$/g, "");
    if (!known.has(linked)) return [`${file}:${line} links to ${target}, but there is no ${linked}; mend the link`];
    const page = pages.get(linked);
    if (anchor === undefined || page === undefined || anchorsIn(page).has(anchor)) return [];
    return [`${file}:${line} links to ${target}, but ${linked} has no heading #${anchor}; mend the link`];
  });
}

/** Names of npm scripts: those of the root, and those a reader reaches with `-w`. */
export interface Scripts {
  readonly root: readonly string[];
  readonly workspaces: readonly string[];
}

/** Scripts that a page tells its reader to run, but that nobody wrote. */
export function findUnknownScripts(file: string, page: string, scripts: Scripts): readonly string[] {
  return page.split("\n").flatMap((text, index) => {
    const known = /\s(?:-w|--workspaces?)\b/.test(text) ? scripts.workspaces : scripts.root;
    const unknown = scriptsNamed(text).filter((script) => !known.includes(script));
    return unknown.map(
      (script) => `${file}:${index + 1} says npm run ${script}, but there is no such script; mend one of them`,
    );
  });
}

/** `npm test` and `npm start` are short for `npm run test` and `npm run start`; options may stand in between. */
function scriptsNamed(text: string): readonly string[] {
  const named = text.matchAll(
    /\bnpm (?:run(?:-script)? |(?=(?:test|start)\b))(?:(?:-w|--workspace) \S+ |-\S+ )*([\w:.-]*[\w-])/g,
  );
  return [...named].map((match) => match[1] ?? "");
}

interface Reference {
  readonly target: string;
  readonly line: number;
}

function linksIn(page: string): readonly Reference[] {
  return proseOf(page).flatMap((text, index) => {
    const prose = text.replace(/`[^`]*`/g, "");
    const inline = prose.matchAll(/\]\(\s*<?([^\s)>]+)>?[^)]*\)/g);
    const references = prose.matchAll(/^\s*\[[^\]]+\]:\s*<?([^\s>]+)/g);
    const html = prose.matchAll(/\b(?:href|src)="([^"]+)"/g);
    return [...inline, ...references, ...html].map((match) => ({ target: match[1] ?? "", line: index + 1 }));
  });
}

/** The anchors GitHub gives to headings, counting those that repeat, and those written by hand. */
function anchorsIn(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const line of proseOf(page)) {
    for (const [, id] of line.matchAll(/\b(?:id|name)="([^"]+)"/g)) anchors.add(id ?? "");
    const [, heading] = /^#{1,6}\s+(.+?)\s*#*$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    let anchor = slug;
    for (let again = 1; anchors.has(anchor); again++) anchor = `${slug}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}

function slugOf(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/<[^>]*>/g, "");
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/** The lines of a page, with those inside fences left blank, so that the others keep their numbers. */
function proseOf(page: string): readonly string[] {
  let fence: string | null = null;
  return page.split("\n").map((line) => {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === null && mark !== undefined) {
      fence = mark;
      return "";
    }
    if (fence !== null && mark?.startsWith(fence)) {
      fence = null;
      return "";
    }
    return fence === null ? line : "";
  });
}
