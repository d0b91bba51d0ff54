import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Keyboard, type KeySource } from "../src/terminal/keyboard.js";

class Keys extends EventEmitter implements KeySource {
  raw = false;
  paused = true;

  setRawMode(on: boolean): void {
    this.raw = on;
  }

  resume(): void {
    this.paused = false;
  }

  pause(): void {
    this.paused = true;
  }

  type(text: string): void {
    this.emit("data", Buffer.from(text));
  }
}

const patient = new AbortController().signal;

test("answers with the first key that is one of those asked for", async () => {
  const keys = new Keys();
  using keyboard = new Keyboard(keys, () => {});
  keys.type("a");
  const pressed = keyboard.press(["a", "d"], patient);
  keys.type("x");
  await Promise.resolve();
  await Promise.resolve();
  keys.type("D");
  expect(await pressed).toBe("d");
});

test("Ctrl-C interrupts, whether or not anybody asks", async () => {
  const keys = new Keys();
  const interrupted = new AbortController();
  using keyboard = new Keyboard(keys, () => interrupted.abort());
  const pressed = keyboard.press(["a"], interrupted.signal);
  keys.type("\x03");
  expect(interrupted.signal.aborted).toBe(true);
  expect(await pressed).toBeNull();
});

test("gives up when there will be no more keys", async () => {
  const keys = new Keys();
  using keyboard = new Keyboard(keys, () => {});
  const pressed = keyboard.press(["a"], patient);
  keys.emit("end");
  expect(await pressed).toBeNull();
});

test("leaves the terminal as it was", () => {
  const keys = new Keys();
  const keyboard = new Keyboard(keys, () => {});
  expect([keys.raw, keys.paused]).toEqual([true, false]);
  keyboard[Symbol.dispose]();
  expect([keys.raw, keys.paused, keys.listenerCount("data")]).toEqual([false, true, 0]);
});
