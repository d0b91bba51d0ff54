// Runs all tests under Node 22, which npm installs beside the one at hand. It is a package of its own, because a `node` among the
// dependencies would be the one that every npm script runs.
import { join } from "node:path";
import { node22, root, run } from "./installed.mjs";

const node = node22();
run(node, ["--version"]);
const chosen = process.argv.slice(2);
run(node, [join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...chosen]);
// The newest majors of the SDKs need it, so their tests run here too, unless only some were asked for.
if (chosen.length === 0) run(node, [join(root, "test", "newer-sdks", "run.mjs")]);
