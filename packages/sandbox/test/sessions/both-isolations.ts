import { openSandbox } from "@bursar/sandbox";
import { afterAll } from "vitest";
import { testPlaces } from "./places.js";

/** A sandbox in a process of its own and one in threads of ours, for as long as the suite takes. */
export async function bothIsolations(name: string) {
  const { places } = testPlaces(name);
  const [process, thread] = await Promise.all([
    openSandbox({ ...places, workers: 1 }),
    openSandbox({ ...places, workers: 1, isolation: "thread" }),
  ]);
  afterAll(() => Promise.all([process, thread].map((each) => each[Symbol.asyncDispose]())));
  return { process, thread };
}
