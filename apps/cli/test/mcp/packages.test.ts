import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "@bursar/sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AGENT, call, type McpStage, OPERATOR, openStage, openTestSandbox } from "./stage.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-mcp-packages-"));
let sandbox: Sandbox;
let stage: McpStage;

beforeAll(async () => {
  sandbox = await openTestSandbox({ packagesFolder: folder });
  stage = await openStage({ sandbox: async () => sandbox, packagesFolder: folder });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("an operator has packages fetched; an agent uses those there are, and keeps its files", async () => {
  const [agent, operator] = [await stage.connect(AGENT), await stage.connect(OPERATOR)];
  const { said: own } = await call(agent, "create_session", { language: "python" });
  const { session_id } = own;
  const wish = { session_id, package: "tabulate" };
  const refused = await call(agent, "install_package", wish);
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("bursar packages add tabulate")]);
  const { said: theirs } = await call(operator, "create_session", { language: "python" });
  const words: string[] = [];
  const fetched = await operator.callTool(
    { name: "install_package", arguments: { ...wish, session_id: theirs.session_id } },
    undefined,
    { onprogress: ({ message = "" }) => words.push(message), resetTimeoutOnProgress: true },
  );
  expect(fetched.structuredContent).toMatchObject({ packages: ["tabulate"] });
  expect(words).toContain("looking for tabulate");
  await call(agent, "session_files", { session_id, action: "write", path: "kept.txt", content: "kept" });
  expect((await call(agent, "install_package", wish)).said).toMatchObject({ session_id, packages: ["tabulate"] });
  const code = "import tabulate; print(tabulate.tabulate([[1]], tablefmt='plain'), open('kept.txt').read())";
  expect((await call(agent, "execute_code", { session_id, code })).said).toMatchObject({
    stdout: "1 kept\n",
    session_id,
  });
  expect((await call(agent, "install_package", { ...wish, package: "Tabulate" })).text).toContain("there already");
  // What is installed is there in every session that is made from then on, without a word.
  const imports = "import tabulate, sys; print(tabulate.__name__, sys.path[0])";
  expect((await call(agent, "create_session", { language: "python" })).said).toMatchObject({ packages: ["tabulate"] });
  expect((await call(agent, "execute_code", { language: "python", code: imports })).said).toMatchObject({
    stdout: expect.stringContaining("tabulate "),
  });
  const none = await call(agent, "create_session", { language: "python", packages: [] });
  expect(none.said).toMatchObject({ packages: [] });
  const { said: script } = await call(agent, "create_session", { language: "javascript" });
  const odd = await call(agent, "install_package", { ...wish, session_id: script.session_id });
  expect([odd.isError, odd.text]).toEqual([true, expect.stringContaining("Python alone")]);
}, 300_000);
