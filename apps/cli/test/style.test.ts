import { describe, expect, test } from "vitest";
import { clip, harmless, printable, styleFor, wantsColour, widthOf, wrap } from "../src/render/style.js";

describe("colour", () => {
  test("is for terminals, unless somebody says otherwise", () => {
    expect(wantsColour({}, true)).toBe(true);
    expect(wantsColour({}, false)).toBe(false);
    expect(wantsColour({ TERM: "dumb" }, true)).toBe(false);
    expect(wantsColour({ NO_COLOR: "1" }, true)).toBe(false);
    expect(wantsColour({ NO_COLOR: "" }, true)).toBe(true);
    expect(wantsColour({ FORCE_COLOR: "1" }, false)).toBe(true);
    expect(wantsColour({ FORCE_COLOR: "0" }, true)).toBe(false);
    expect(wantsColour({ FORCE_COLOR: "1", NO_COLOR: "1" }, false)).toBe(true);
  });

  test("leaves text as it is when there is none", () => {
    const { bold, marked } = styleFor(false);
    expect(bold("text") + marked("│", "bad")).toBe("text│");
  });
});

describe("clip", () => {
  test("keeps what fits and cuts the rest, closing colours it leaves open", () => {
    const { good } = styleFor(true);
    expect(clip("abcdef", 6)).toBe("abcdef");
    expect(clip("abcdef", 4)).toBe("abc…");
    expect(clip("abcdef", 0)).toBe("");
    const cut = clip(`${good("abc")}def`, 3);
    expect(widthOf(cut)).toBe(3);
    expect(cut.endsWith("\x1b[0m")).toBe(true);
    expect(clip(good("abc"), 3)).toBe(good("abc"));
  });
});

test("wrap breaks between words, and never inside one", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("incomprehensible", 4)).toEqual(["incomprehensible"]);
});

test("what comes from outside neither commands a terminal nor is shown in another order", () => {
  expect(harmless("a\x1b[2Jb\nc")).toBe("a�[2Jb�c");
  expect(printable("a\x1b[2Jb\nc")).toBe("a�[2Jb\nc");
  expect(harmless("pay \u202e001\u202c to \u2066x\u2069")).toBe("pay �001� to �x�");
  expect(printable("\u202eabc")).toBe("�abc");
  expect(harmless("שלום, 茶")).toBe("שלום, 茶");
});
