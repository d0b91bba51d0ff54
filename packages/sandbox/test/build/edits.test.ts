import { describe, expect, test } from "vitest";
import { type Edit, type Edits, load } from "./scripts.js";

const { EDITS, edited } = await load<Edits>("edits.mjs");

describe("an edit of the sources", () => {
  const edits: readonly Edit[] = [
    ["one", "1"],
    ["two", "$&2"],
  ];

  test("replaces each text by the other, as it stands", () => {
    expect(edited("one two three", edits, "a.c")).toBe("1 $&2 three");
  });

  test.each([
    ["one three", "two", 0],
    ["one two two", "two", 2],
  ])("of %j fails, and says what it has not found once", (text, before, times) => {
    expect(() => edited(text, edits, "a.c")).toThrow(`a.c has this ${times} times instead of once:\n${before}`);
  });

  test("of CPython leaves every call through a hook to a function of its own", () => {
    const [{ file, edits: allocators }] = EDITS as [Edits["EDITS"][number]];
    const after = allocators.map(([, text]) => text).join("\n");

    expect(file).toBe("Objects/obmalloc.c");
    for (const name of ["malloc", "calloc", "realloc", "free"]) {
      for (const domain of ["_PyMem", "_PyObject"]) expect(after).toContain(`hooked_${name}(&${domain}, `);
      expect(after).toMatch(new RegExp(`Py_NO_INLINE void ?\\*?\\nhooked_${name}\\(`));
    }
    expect(after).not.toMatch(/_Py(?:Mem|Object)\.\w+\(/);
  });
});
