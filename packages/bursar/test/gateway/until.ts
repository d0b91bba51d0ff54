// Longer than a busy machine takes, and shorter than the time of a test, which would not say what is missing.
const MOST_LOOKS = 20_000;

/** Looks again and again until it is so; for what happens on the other side of a socket. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it does not come to this: ${what}`);
}
