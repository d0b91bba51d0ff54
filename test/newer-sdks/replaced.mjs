import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { root } from "../installed.mjs";
import { NEWER } from "./packages.mjs";

test.for(NEWER)("%s is the newest one for programs that tests start, too", (name) => {
  const program = `console.log(import.meta.resolve(${JSON.stringify(name)}))`;
  const options = { cwd: root, encoding: "utf8" };

  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], options);

  expect(said).toContain(`/test/newer-sdks/node_modules/${name}/`);
});
