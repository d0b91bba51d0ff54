import { addPackages } from "../../../dist/packages/add.js";
import { removePackage } from "../../../dist/packages/manage.js";
import { openPackages } from "../../../dist/packages/tree.js";

// Adds the same packages again and again, as one of several processes that share a folder.
const [folder, indexUrl, rounds] = process.argv.slice(2);

process.send("ready");
await new Promise((resolve) => process.once("message", resolve));
for (let round = 0; round < Number(rounds); round++) {
  await addPackages(["a"], { folder, source: "pypi", indexUrl, env: {} });
  try {
    const tree = await openPackages(folder, ["a"]);
    if (tree.read("b/__init__.py").length === 0) throw new Error("an empty file");
    await removePackage(folder, "a");
  } catch (error) {
    // Others remove it too; what must not happen is half a package.
    if (error.code !== "package_missing") throw error;
  }
}
await addPackages(["a"], { folder, source: "pypi", indexUrl, env: {} });
process.disconnect();
