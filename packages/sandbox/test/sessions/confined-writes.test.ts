import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CACHE } from "../python/parts.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ workers: 1, cacheFolder: CACHE });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const RESTRICTED = "all file operations restricted to /app directory";

describe("programs write below /app and /tmp alone", () => {
  test.each([
    "open('../x', 'w')",
    "open('/x.txt', 'w')",
    "open('/boot.py', 'w')",
    "open('/dev/other', 'w')",
    "open('/data/x', 'w')",
    "import os; os.mkdir('/zz')",
    "import os; os.symlink('/x', '/app/link'); open('/app/link', 'w')",
    "import os; os.rename('/app', '/tmp/app')",
    "open('/app/a', 'w').close(); import os; os.rename('/app/a', '/b')",
    "open('/app/a', 'w').close(); import os; os.link('/app/a', '/b')",
    "import os; os.chdir('/'); open('relative', 'w')",
    "import os; os.rmdir('/tmp')",
  ])("Python: %s", async (code) => {
    const session = await sandbox.createSession({ language: "python" });
    const { success, stderr, metadata, files_created } = await session.execute(code);
    expect([success, stderr]).toEqual([false, expect.stringContaining("Read-only file system")]);
    expect(metadata.error_guidance?.error_type).toBe("PathRestriction");
    expect(files_created.filter((path) => !path.startsWith("/app/"))).toEqual([]);
  });

  test.each([
    ["python", "import sqlite3; sqlite3.connect('/data.db').execute('create table a(b)')", "/data.db"],
    ["javascript", "const file = std.open('/x.txt', 'w'); file.puts('text');", "/x.txt"],
    ["javascript", "const file = std.open('/etc/x.txt', 'w'); file.puts('text');", "/etc/x.txt"],
    ["javascript", "const file = std.open('../../x.txt', 'w'); file.puts('text');", "/app/../../x.txt"],
  ] as const)("%s: %s, where the failure does not name the path", async (language, code, path) => {
    const session = await sandbox.createSession({ language });
    const { success, metadata } = await session.execute(code);
    expect([success, metadata.error_guidance]).toMatchObject([
      false,
      {
        error_type: "PathRestriction",
        actionable_guidance: [`Security error: Cannot access '${path}' - ${RESTRICTED}`, "", ""].map((text) =>
          expect.stringContaining(text),
        ),
      },
    ]);
    const other =
      language === "python"
        ? "import sqlite3; sqlite3.connect('/app/none/x.db').execute('select 1')"
        : "std.open('/app/none/x', 'w').puts('text')";
    expect((await session.execute(other)).metadata.error_guidance ?? null).toBeNull();
  });

  test("Python: what programs expect of /tmp, /dev/null and files that are not there", async () => {
    const session = await sandbox.createSession({ language: "python" });
    const code = `
import contextlib, os, tempfile
with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    print(file.name.startswith("/tmp/"))
with contextlib.redirect_stdout(open(os.devnull, "w")):
    print("nowhere")
print(repr(open(os.devnull).read()))
`;
    expect((await session.execute(code)).stdout).toBe("True\n''\n");
    const missing = await session.execute("open('/tmp/missing')");
    expect([missing.success, missing.metadata.error_guidance ?? null]).toEqual([false, null]);
  });

  test("what libraries keep in the home of their user, unless the session gives them another", async () => {
    const cache = "from pathlib import Path; folder = Path.home() / '.cache'; folder.mkdir(); (folder / 'a').touch()";
    const session = await sandbox.createSession({ language: "python" });
    const { stderr, files_created } = await session.execute(cache);
    expect([stderr, files_created]).toEqual(["", ["/app/.cache/a"]]);
    const own = await sandbox.createSession({ language: "python", env: { HOME: "/tmp" } });
    expect((await own.execute(cache)).files_created).toEqual(["/tmp/.cache/a"]);
    const script = await sandbox.createSession({ language: "javascript" });
    expect((await script.execute("console.log(std.getenv('HOME'))")).stdout).toBe("/app\n");
  });

  test("JavaScript", async () => {
    const session = await sandbox.createSession({ language: "javascript" });
    const values = `console.log(std.open("/x.txt", "w"), os.mkdir("/zz"), os.open("/q", os.O_CREAT | os.O_WRONLY),
      os.symlink("/x", "/app/link"), std.open("/app/link", "w"));`;
    expect((await session.execute(values)).stdout).toBe("null -30 -30 0 null\n");
    const thrown = await session.execute('std.writeFile("/x.txt", "1")');
    expect(thrown.metadata.error_guidance).toMatchObject({
      error_type: "PathRestriction",
      actionable_guidance: expect.arrayContaining([expect.stringContaining(RESTRICTED)]),
    });
    expect((await session.execute('std.writeFile("/tmp/a", "1"); console.log(std.loadFile("/tmp/a"))')).stdout).toBe(
      "1\n",
    );
  });

  test.each(["python", "javascript"] as const)("and so does the host, in a session of %s", async (language) => {
    const session = await sandbox.createSession({ language });
    for (const path of ["/x", "../x", "../../x", "/data/deep/x", "/app/../x", "/dev/null"]) {
      await expect(session.writeFile(path, "1")).rejects.toThrow(RESTRICTED);
    }
    await expect(session.removeFile("/tmp")).rejects.toThrow(RESTRICTED);
    await session.writeFile("deep/x.txt", "1");
    await session.writeFile("/tmp/x.txt", "2");
    expect((await session.listFiles()).map(({ path }) => path)).toEqual(["deep", "deep/x.txt"]);
  });

  test("also after it was saved and restored", async () => {
    const session = await sandbox.createSession({ language: "python", autoPersistGlobals: true });
    await session.execute("kept = 1; open('kept.txt', 'w').close()");
    const again = await sandbox.restoreSession(await session.save());
    const { stdout, stderr } = await again.execute("print(kept); open('kept.txt', 'a').close(); open('/x', 'w')");
    expect([stdout, stderr]).toEqual(["1\n", expect.stringContaining("Read-only file system: '/x'")]);
  });
});

describe("std and os are there without an import", () => {
  test("so that the guidance's own example works", async () => {
    const session = await sandbox.createSession({ language: "javascript", files: { "a.txt": "1" } });
    const wrong = await session.execute("const files = os.readdir('/app'); const [a] = os.mkdir('/app/b');");
    expect(wrong.metadata.error_guidance?.error_type).toBe("QuickJSTupleDestructuring");
    const { code_examples = [] } = wrong.metadata.error_guidance ?? {};
    const right = await session.execute(code_examples.join("\n"));
    expect([right.success, right.stderr]).toEqual([true, ""]);
    expect(right.stdout).toContain("a.txt");
  });

  test("as names that a program may take for itself", async () => {
    const session = await sandbox.createSession({ language: "javascript" });
    const own = "import * as os from 'os'; import * as std from 'std'; console.log(typeof os.stat, typeof std.open)";
    expect((await session.execute(own)).stdout).toBe("function function\n");
    expect(
      (await session.execute("const os = 1, std = 2; console.log(os + std, Object.keys(globalThis).includes('std'))"))
        .stdout,
    ).toBe("3 false\n");
  });
});
