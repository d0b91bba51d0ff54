import type { Key } from "ink";

/** A key that was pressed, or a text that was typed or pasted. */
export type Press =
  | { readonly name: Named }
  /** What was typed, without what a terminal would obey. */
  | { readonly name: "text"; readonly text: string };

type Named =
  | ("up" | "down" | "page-up" | "page-down" | "home" | "end" | "left" | "right")
  | ("enter" | "escape" | "tab" | "back-tab" | "backspace" | "clear" | "interrupt" | "repaint");

const NAMES: readonly (readonly [keyof Key, Named])[] = [
  ["upArrow", "up"],
  ["downArrow", "down"],
  ["leftArrow", "left"],
  ["rightArrow", "right"],
  ["pageUp", "page-up"],
  ["pageDown", "page-down"],
  ["home", "home"],
  ["end", "end"],
  ["return", "enter"],
  ["escape", "escape"],
  ["backspace", "backspace"],
  // Most terminals send for the backspace key what Ink calls delete.
  ["delete", "backspace"],
];

const WITH_CONTROL: Readonly<Record<string, Named>> = {
  c: "interrupt",
  d: "interrupt",
  h: "backspace",
  l: "repaint",
  n: "down",
  p: "up",
  u: "clear",
};

/** So much of what is pasted is read; no field takes more. */
const MOST_PASTED = 1000;

/** Keys as Ink tells them: one, or several at once when they are pasted, or come over a slow line. */
export function readPresses(input: string, key: Key): readonly Press[] {
  if (key.ctrl) return known(WITH_CONTROL[input]);
  if (key.tab) return [{ name: key.shift ? "back-tab" : "tab" }];
  const named = NAMES.find(([flag]) => key[flag] === true);
  if (named !== undefined) return [{ name: named[1] }];
  if (key.meta) return [];
  return [...input.slice(0, MOST_PASTED)].flatMap(readCharacter);
}

function known(name: Named | undefined): readonly Press[] {
  return name === undefined ? [] : [{ name }];
}

const LAST_LETTER = 26;

/** A character among others. An end of line does not decide anything here: whoever pastes a text has not read the form yet. */
function readCharacter(text: string): readonly Press[] {
  if (text === "\r" || text === "\n") return [{ name: "text", text: " " }];
  if (text === "\t") return [{ name: "tab" }];
  if (text === "\x7f") return [{ name: "backspace" }];
  const code = text.charCodeAt(0);
  if (code >= 1 && code <= LAST_LETTER) return known(WITH_CONTROL[String.fromCharCode(code + 96)]);
  return /\p{Cc}/u.test(text) ? [] : [{ name: "text", text }];
}
