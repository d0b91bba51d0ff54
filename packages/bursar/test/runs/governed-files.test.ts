import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { defineAgent } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { defineTool, type ToolContext } from "../../src/runs/tool.js";
import { ANN, pausedOf, Theatre } from "./stage.js";

/** A folder with a folder inside, and one beside it. */
async function folders() {
  const root = await mkdtemp(join(tmpdir(), "bursar-files-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const inside = join(root, "inside");
  const outside = join(root, "outside");
  await mkdir(inside);
  await mkdir(outside);
  return { root, inside, outside };
}

function using(work: (files: ToolContext["files"]) => Promise<unknown>) {
  const tool = defineTool({
    name: "disk",
    description: "Uses files.",
    input: {},
    run: (_: unknown, { files }) => work(files),
  });
  const program = defineAgent("program", async (ctx) =>
    ctx.tool("disk").catch(({ code, message }: RunError) => ({ code, message })),
  );
  const theatre = new Theatre([program], [tool]);
  const run = (options = {}) => theatre.until(theatre.process().run("program", null, { id: "r", ...options }), 0);
  return { theatre, run };
}

scenario(
  "004/network-storage-budgets",
  "bytes are counted before they are written, and what does not fit is not written",
  async () => {
    const { inside } = await folders();
    const { run } = using(async (files) => {
      await files.write(join(inside, "deep", "one.txt"), "äöü");
      await files.write(join(inside, "two.txt"), "x".repeat(10));
    });
    const result = await run({ limits: { storage_write_bytes: 10 } });
    expect(result).toMatchObject({
      status: "failed",
      failure: { dimension: "storage_write_bytes" },
      usage: { storage_write_bytes: 6 },
    });
    expect(await readdir(inside)).toEqual(["deep"]);
    expect(await readFile(join(inside, "deep", "one.txt"), "utf8")).toBe("äöü");
  },
);

test("a policy that asks pauses the run, and the tool call is repeated after a yes", async () => {
  const { inside } = await folders();
  const { theatre, run } = using(async (files) => {
    await files.write(join(inside, "one.txt"), "x".repeat(20));
    return new TextDecoder().decode(await files.read(join(inside, "one.txt")));
  });
  const policies = { storage_write_bytes: "approval_required" };
  const paused = pausedOf(await run({ limits: { storage_write_bytes: 10 }, policies }));
  expect(await readdir(inside)).toEqual([]);
  const extensions = { storage_write_bytes: 10 };
  const approving = theatre.process().approve(paused.checkpoint_id, { by: ANN, extensions });
  expect(await theatre.until(approving, 0)).toMatchObject({ status: "completed", result: "x".repeat(20) });
});

/** Paths that lead out of a folder, each in its own way. */
const WAYS_OUT: Readonly<Record<string, (places: { inside: string; outside: string }) => Promise<string>>> = {
  dots: async () => "../outside/new.txt",
  "dots in the middle": async () => "deep/../../outside/new.txt",
  "an absolute path": async ({ outside }) => join(outside, "new.txt"),
  "a linked folder": async ({ inside, outside }) => {
    await symlink(outside, join(inside, "link"));
    return "link/new.txt";
  },
  "a linked folder, and folders that are not there yet": async ({ inside, outside }) => {
    await symlink(outside, join(inside, "link"));
    return "link/deep/er/new.txt";
  },
  "a link to a file that is there": async ({ inside, outside }) => {
    await writeFile(join(outside, "old.txt"), "old");
    await symlink(join(outside, "old.txt"), join(inside, "link.txt"));
    return "link.txt";
  },
  "a link to a file that is not there yet": async ({ inside, outside }) => {
    await symlink(join(outside, "new.txt"), join(inside, "link.txt"));
    return "link.txt";
  },
  "a link to a folder that is not there yet": async ({ inside, outside }) => {
    await symlink(join(outside, "new"), join(inside, "link"));
    return "link/new.txt";
  },
};

for (const [name, make] of Object.entries(WAYS_OUT)) {
  test(`a path that leads out of the folder is refused: ${name}`, async () => {
    const places = await folders();
    const path = await make(places);
    const before = await readdir(places.outside, { recursive: true });
    const { run } = using((files) => files.within(places.inside).write(path, "written"));
    const result = await run();
    expect(await readdir(places.outside, { recursive: true })).toEqual(before);
    expect(result).toMatchObject({ status: "completed", result: { code: expect.stringMatching(/^(path|failed)$/) } });
    for (const file of before) expect(await readFile(join(places.outside, file), "utf8")).toBe("old");
  });
}

test("what leads out cannot be read either", async () => {
  const { inside, outside } = await folders();
  await writeFile(join(outside, "secret.txt"), "secret");
  await symlink(join(outside, "secret.txt"), join(inside, "link.txt"));
  const { run } = using((files) => files.within(inside).read("link.txt"));
  expect(await run()).toMatchObject({ status: "completed", result: { code: "path" } });
});

test("within a folder one gets further in, but not out again", async () => {
  const { inside, outside } = await folders();
  const { run } = using(async (files) => {
    await files.within(inside).within("deeper").write("fine.txt", "fine");
    await files.within(inside).within(outside).write("bad.txt", "bad");
  });
  expect(await run()).toMatchObject({ status: "completed", result: { code: "path" } });
  expect(await readdir(outside)).toEqual([]);
  expect(await readFile(join(inside, "deeper", "fine.txt"), "utf8")).toBe("fine");
});

test("names that only look like a way out are names", async () => {
  const { inside } = await folders();
  const { run } = using((files) => files.within(inside).write("..hidden", "fine"));
  await run();
  expect(await readdir(inside)).toEqual(["..hidden"]);
});

test("what was refused because of its path was not written, and is not charged", async () => {
  const { inside } = await folders();
  const { run } = using((files) => files.within(inside).write("../x", "y".repeat(100)));
  expect((await run()).usage.storage_write_bytes).toBe(0);
});

test("links that stay inside are followed, also to what is not there yet", async () => {
  const { root, inside } = await folders();
  await mkdir(join(inside, "real"));
  await symlink("real", join(inside, "folder"));
  await symlink(join("..", "inside", "real", "new.txt"), join(inside, "link.txt"));
  await symlink(inside, join(root, "alias"));
  const { run } = using(async (files) => {
    const within = files.within(join(root, "alias"));
    await within.write("folder/one.txt", "one");
    await within.write("link.txt", "a longer text");
    await within.write("link.txt", "two");
    return new TextDecoder().decode(await within.read("real/new.txt"));
  });
  expect(await run()).toMatchObject({ status: "completed", result: "two", usage: { storage_write_bytes: 19 } });
  expect(await readdir(join(inside, "real"))).toEqual(["new.txt", "one.txt"]);
});

test("links in a circle are refused, and not charged", async () => {
  const { inside } = await folders();
  await symlink("b", join(inside, "a"));
  await symlink("a", join(inside, "b"));
  const { run } = using((files) => files.within(inside).write("a", "text"));
  expect(await run()).toMatchObject({ result: { code: "path" }, usage: { storage_write_bytes: 0 } });
});

test("a link to a folder outside is no folder to be within", async () => {
  const { inside, outside } = await folders();
  await symlink(outside, join(inside, "link"));
  const { run } = using((files) => files.within(inside).within("link").write("new.txt", "text"));
  expect(await run()).toMatchObject({ result: { code: "path" }, usage: { storage_write_bytes: 0 } });
  expect(await readdir(outside)).toEqual([]);
});

test("a write that the tool does not wait for is done all the same, before its call is over", async () => {
  const { inside } = await folders();
  const { theatre, run } = using(async (files) => {
    void files.within(inside).write("late.txt", "x".repeat(100));
  });
  expect(await run()).toMatchObject({ status: "completed", usage: { storage_write_bytes: 100 } });
  expect(await readFile(join(inside, "late.txt"), "utf8")).toHaveLength(100);
  expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
});

test("a tool may write in the last step that a run has", async () => {
  const { inside } = await folders();
  const { run } = using((files) => files.write(join(inside, "one.txt"), "last"));
  expect(await run({ limits: { steps: 1 } })).toMatchObject({ status: "completed", usage: { steps: 1 } });
  expect(await readFile(join(inside, "one.txt"), "utf8")).toBe("last");
});
