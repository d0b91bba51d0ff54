import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The sources of what the exports map of a package makes public. */
function entryPointsOf(folder) {
  const { exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const declarations = Object.values(exports).flatMap(({ types = "" }) => (types.includes("/dist/") ? [types] : []));
  return declarations.map((file) => join(root, folder, file.replace("/dist/", "/src/").replace(/\.d\.ts$/, ".ts")));
}

export default {
  entryPoints: ["packages/bursar", "packages/wasm-fuel", "packages/sandbox"].flatMap(entryPointsOf),
  tsconfig: join(root, "tools", "tsconfig.json"),
  plugin: ["typedoc-plugin-markdown"],
  readme: "none",
  excludeInternal: true,
  excludePrivate: true,
  disableSources: true,
  validation: { invalidLink: true, notExported: false, notDocumented: false },
  treatValidationWarningsAsErrors: true,
};
