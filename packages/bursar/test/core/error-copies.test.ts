import { BursarError, InputError, RunError } from "bursar";
import { expect, test } from "vitest";

interface OtherCopy {
  readonly BursarError: typeof BursarError;
  readonly InputError: typeof InputError;
}

/** The same classes once more, as a second installed copy of the library has them. */
async function loadOtherCopy(): Promise<OtherCopy> {
  const file = new URL("./core/errors.js", import.meta.resolve("bursar"));
  return (await import(`${file.href}?copy`)) as OtherCopy;
}

test("an error of another copy of the library is an instance of its class here, and of no other", async () => {
  const other = await loadOtherCopy();
  expect(other.InputError).not.toBe(InputError);
  const error = new other.InputError("limits", "is wrong");
  expect(error instanceof InputError).toBe(true);
  expect(error instanceof BursarError).toBe(true);
  expect(error instanceof RunError).toBe(false);
  expect(new other.BursarError("a_code", "a message") instanceof InputError).toBe(false);
  expect(new RunError("not_found", "there is none") instanceof other.BursarError).toBe(true);
});

test.each([new Error("plain"), null, undefined, "text", { code: "a_code" }, Object.create(null)])(
  "%o is an instance of none of them",
  (value) => {
    expect(value instanceof BursarError).toBe(false);
    expect(value instanceof InputError).toBe(false);
  },
);
