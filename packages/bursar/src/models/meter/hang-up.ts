const DRAIN_MS = 1000;
const MOST_READS = 16;

/** Tells the other side that nothing more is wanted. */
export async function hangUp(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // It is over either way.
  }
}

/** Reads what is left, so that the connection can serve again; who has more to say after his last word is hung up on. */
export async function drain(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  const patience = setTimeout(() => void hangUp(reader), DRAIN_MS);
  patience.unref();
  try {
    for (let reads = 0; reads < MOST_READS; reads++) if ((await reader.read()).done) return;
    await hangUp(reader);
  } catch {
    // It is over either way.
  } finally {
    clearTimeout(patience);
  }
}
