// Checks the rules of tools/architecture.config.mjs: no cycles, and imports that follow the layers. dependency-cruiser needs the compiler
// API of TypeScript 6, so both are installed here, beside the compiler of the repository.
import { join } from "node:path";
import { install, root, run } from "../test/installed.mjs";

const folder = join(root, "tools");
install(folder, "dependency-cruiser and TypeScript 6 (about 60 MB)");
const sources = [
  "packages/bursar/src",
  "packages/wasm-fuel/src",
  "packages/sandbox/src",
  "apps/cli/src",
  "apps/web/src",
];
run(process.execPath, [
  join(folder, "node_modules", "dependency-cruiser", "bin", "dependency-cruise.mjs"),
  "--config",
  join(folder, "architecture.config.mjs"),
  "--no-metrics",
  ...sources,
]);
