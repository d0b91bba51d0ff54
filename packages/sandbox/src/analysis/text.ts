/** Only the beginning of a text is searched for imports: a guest may write a megabyte. */
export const LOOKED_AT = 10_240;

const REPLACEMENT = "\uFFFD";

/**
 * Text of a guest, fit to be shown: no longer than asked, nothing that a terminal would obey, no half characters.
 */
export function clean(text: string, most: number): string {
  let shown = "";
  for (const character of text.slice(0, most))
    shown += isShowable(character.codePointAt(0) ?? 0) ? character : REPLACEMENT;
  return text.length > most ? `${shown}…` : shown;
}

/** Control characters, lone surrogates, and marks that change the direction of what follows, are not. */
function isShowable(point: number): boolean {
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;
  if (point >= 0xd800 && point < 0xe000) return false;
  return !(point >= 0x2028 && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069);
}

/** Letters, digits, the underscore and everything beyond ASCII: what a name in Python or JavaScript may hold. */
export function isNameCharacter(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code >= 0x80
  );
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** The names in a text from a place on, dots included: `import os.path, re` → `import`, `os.path`, `re`. */
export function namesIn(text: string): readonly string[] {
  const names: string[] = [];
  let start = -1;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const belongs = isNameCharacter(code) || (start !== -1 && code === 0x2e);
    if (belongs && start === -1) start = at;
    if (!belongs && start !== -1) {
      names.push(text.slice(start, at));
      start = -1;
    }
  }
  return names;
}
