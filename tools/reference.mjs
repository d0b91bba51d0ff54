// Writes the reference into docs/reference, which git ignores: the API by typedoc, what the commands say with --help, and the HTTP API as
// a server describes it. Needs everything built.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { install, root, run } from "../test/installed.mjs";
import { writeCommandsPage } from "./reference/commands.mjs";
import { writeRoutesPage } from "./reference/routes.mjs";

const tools = join(root, "tools");
const folder = join(root, "docs", "reference");
install(tools, "typedoc and TypeScript 6 (about 60 MB)");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run(process.execPath, [
  join(tools, "node_modules", "typedoc", "bin", "typedoc"),
  "--options",
  join(tools, "typedoc.config.mjs"),
  "--out",
  join(folder, "api"),
]);
writeFileSync(join(folder, "commands.md"), writeCommandsPage());
writeFileSync(join(folder, "http.md"), await writeRoutesPage());
writeFileSync(
  join(folder, "README.md"),
  `# Reference

Made from the code by \`npm run docs\`.

- [API](api/README.md): what the packages export.
- [Commands](commands.md): what \`bursar\` and each of its commands say with \`--help\`.
- [HTTP API](http.md): the routes of the server.
`,
);
console.log("the reference is in docs/reference");
