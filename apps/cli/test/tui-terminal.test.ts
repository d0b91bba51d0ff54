import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Pty } from "./pty.js";
import { bursar } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

const PROGRAM = `for i in range(4):
    await host.tool("note", {"word": "word" + str(i)})
print("all is noted")
`;
const LIMITS = ["--budget", "steps=3", "--exhaustion", "steps=approval_required"];

/** An agent that stands still after three notes. */
function pause(stage: Stage, id: string): void {
  const input = JSON.stringify({ words: ["a", "b", "c", "d"] });
  const { status } = stage.run("run", stage.module, "--agent", "--input", input, "--id", id, ...LIMITS, "--quiet");
  expect(status).toBe(4);
}

describe("bursar tui in a terminal", () => {
  test("a paused Python program is approved, goes on from there, and completes", async () => {
    using stage = openStage();
    writeFileSync(stage.at("notes.py"), PROGRAM);
    const given = ["--module", stage.module, "--id", "nightly", ...LIMITS, "--quiet"];
    expect(stage.run("run", stage.at("notes.py"), ...given).status).toBe(4);
    const tui = new Pty(["tui", "--module", stage.module, "--as", "ann"], { ...stage.env, CI: "true" });
    await tui.until("nightly");
    tui.press("a");
    await tui.until("approve nightly");
    tui.press("\r");
    await tui.until("approved: run nightly, 2 steps more");
    await tui.until("run nightly is completed");
    tui.press("q");
    expect(await tui.ended).toBe(0);
    expect(tui.isRestored).toBe(true);
    expect(stage.json("show", "nightly").said).toMatchObject({ status: "completed" });
    expect(readFileSync(stage.at("notes"), "utf8")).toBe("word0\nword1\nword2\nword3\n");
    expect(stage.run("verify", "nightly").stdout).toContain("✓ verified");
  });

  test("two that decide at once: one does, and the other is told", async () => {
    using stage = openStage();
    pause(stage, "nightly");
    const open = (name: string) => new Pty(["tui", "--module", stage.module, "--as", name], stage.env);
    const both = [open("ann"), open("bob")];
    await Promise.all(both.map((tui) => tui.until("nightly")));
    for (const tui of both) tui.press("a");
    await Promise.all(both.map((tui) => tui.until("approve nightly")));
    const decide = () => both.map((tui) => tui.press("\r"));
    decide();
    // A busy machine may show a form before it hears keys.
    const again = setInterval(decide, 3000);
    const told = both.map(async (tui) => {
      // Who approves drives the run, which may have ended before the approval is drawn.
      const approved = Promise.any([tui.until("approved: run nightly"), tui.until("run nightly is completed")]).then(
        () => "approved",
      );
      const late = Promise.any([
        tui.until("approved by ann already"),
        tui.until("approved by bob already"),
        tui.until("just decided by somebody else"),
        tui.until("somebody else has answered"),
      ]).then(() => "told");
      return await Promise.race([approved, late]);
    });
    expect((await Promise.all(told).finally(() => clearInterval(again))).sort()).toEqual(["approved", "told"]);
    for (const tui of both) tui.press("\x03");
    expect(await Promise.all(both.map((tui) => tui.ended))).toEqual([130, 130]);
    const { stdout } = stage.run("chain", "nightly", "--json");
    expect(stdout.match(/"event":"Extended"/g)).toHaveLength(1);
  });

  test("leaves the terminal as it was when it is interrupted, told to end, or crashes", async () => {
    using stage = openStage();
    pause(stage, "nightly");
    const interrupted = new Pty(["tui"], { ...stage.env, NO_COLOR: "1" });
    await interrupted.until("nightly");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
    expect(interrupted.raw).not.toMatch(/\x1b\[[0-9;]+m/);
    interrupted.press("\x03");
    expect(await interrupted.ended).toBe(130);
    expect(interrupted.isRestored).toBe(true);

    writeFileSync(stage.at("pid.mjs"), pidModule(stage));
    const told = new Pty(["tui", "--module", stage.at("pid.mjs")], stage.env);
    await told.until("nightly");
    process.kill(Number(readFileSync(stage.at("pid"), "utf8")), "SIGTERM");
    expect(await told.ended).toBe(130);
    expect(told.isRestored).toBe(true);

    const crashed = new Pty(["tui", "--module", stage.at("pid.mjs")], stage.env);
    await crashed.until("nightly");
    writeFileSync(stage.at("fall"), "");
    await crashed.until("it fell");
    expect(await crashed.ended).not.toBe(0);
    expect(crashed.isRestored).toBe(true);
    expect(crashed.raw.lastIndexOf("it fell")).toBeGreaterThan(crashed.raw.indexOf("\x1b[?1049l"));
  });

  test("without a terminal it names the commands for that", () => {
    using stage = openStage();
    const { status, stdout, stderr } = stage.run("tui");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("`bursar approvals` lists what waits");
    expect(stage.run("tui", "--json")).toMatchObject({
      status: 2,
      stdout: expect.stringContaining("--json is not known"),
    });
  });
});

test("nobody else waits until the screen is loaded", () => {
  using stage = openStage();
  expect(existsSync(new URL("../dist/bundle/run-screen.js", import.meta.url))).toBe(true);
  for (const [at, args] of [["--help"], ["runs"], ["tui", "--help"]].entries()) {
    const folder = stage.at(`loaded-${at}`);
    bursar(args, { ...stage.env, NODE_V8_COVERAGE: folder });
    const loaded = readdirSync(folder).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { result: { url: string }[] };
      return result.map(({ url }) => url.replace(/^.*\//, ""));
    });
    expect(loaded).toContain("main.js");
    expect(loaded).not.toContain("run-screen.js");
  }
});

/** A module that tells the process it is loaded into, and ends it in a way that nobody expects once there is a file "fall". */
function pidModule(stage: Stage): string {
  return `import { existsSync, writeFileSync } from "node:fs";
import { defineTool } from ${JSON.stringify(import.meta.resolve("bursar"))};
writeFileSync(${JSON.stringify(stage.at("pid"))}, String(process.pid));
setInterval(() => { if (existsSync(${JSON.stringify(stage.at("fall"))})) throw new Error("it fell"); }, 50).unref();
export const idle = defineTool({ name: "idle", description: "", input: { type: "object" }, run: () => null });
`;
}
