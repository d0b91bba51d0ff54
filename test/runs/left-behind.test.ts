import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Scene } from "./scene.js";

const CHILD = fileURLToPath(new URL("./children/sandbox.mjs", import.meta.url));
const LOOKS = 100;
const LOOK_MS = 100;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Kills a process with a sandbox when it has said so many lines. Tells whether the sandbox's own process ended, too. */
async function endsWith(scene: Scene, lines: number): Promise<boolean> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(scene.sandbox)], { stdio: ["pipe", "pipe", "inherit"] });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (said.length === lines) break;
  }
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  const pid = Number(said[0]);
  for (let look = 0; look < LOOKS && isAlive(pid); look++) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  if (!isAlive(pid)) return true;
  process.kill(pid, "SIGKILL");
  return false;
}

test.each([
  ["when it has just started it", 1],
  ["when it has a session there", 2],
] as const)("a worker that is killed %s leaves no sandbox behind", async (_, lines) => {
  await using scene = await Scene.open();
  expect(await endsWith(scene, lines)).toBe(true);
});
