let line = "";
let second = -1;

/** The header that says when an answer was written; the same for all of a second. */
export function dateLine(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    line = `date: ${new Date(now * 1000).toUTCString()}\r\n`;
  }
  return line;
}
