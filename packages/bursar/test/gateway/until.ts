const MOST_LOOKS = 2000;

/** Looks again and again until it is so; for what happens on the other side of a socket. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it does not come to this: ${what}`);
}
