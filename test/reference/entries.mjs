import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root.mjs";

/** The packages that people install. */
const PACKAGES = ["packages/bursar", "packages/sandbox"];

/** Every entry of the exports maps: the name it is imported by, its declarations, and the source they were made from. */
export function exportsMaps() {
  return PACKAGES.flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
    const entries = Object.entries(manifest.exports).filter(([, target]) => typeof target.types === "string");
    return entries.map(([path, { types }]) => {
      const source = types.replace("/dist/", "/src/").replace(/\.d\.(m?)ts$/, ".$1ts");
      return {
        name: path === "." ? manifest.name : `${manifest.name}/${path.slice(2)}`,
        types: join(ROOT, folder, types),
        about:
          path === "." ? manifest.description : aboutOf(join(ROOT, folder, types.includes("/dist/") ? source : types)),
      };
    });
  });
}

/** What an entry says of itself, in the comment that it begins with; empty when it has none. */
function aboutOf(file) {
  const [comment = ""] = /^(?:\/\/ [^\n]*\n)+/m.exec(readFileSync(file, "utf8")) ?? [];
  const text = comment
    .replaceAll(/^\/\/ /gm, "")
    .replaceAll("\n", " ")
    .trim();
  const said = text.replace(/^The public face of [^:.]*[:.] */, "");
  return said.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}
