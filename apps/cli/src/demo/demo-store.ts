import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "bursar";

/** Where the run of the demo lives. */
export interface DemoStore extends AsyncDisposable {
  readonly store: Store;
  readonly url: string;
}

/** The store somebody names, or one in a folder that is gone afterwards. */
export async function openDemoStore(url?: string): Promise<DemoStore> {
  if (url !== undefined) {
    const store = await openStore(url);
    return { store, url: withoutLogin(url), [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
  }
  const folder = await mkdtemp(join(tmpdir(), "bursar-demo-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // Also when the process ends at once, because nobody reads its output any more.
  process.once("exit", remove);
  const temporary = `sqlite:${join(folder, "bursar.db")}`;
  const store = await openStore(temporary).catch((error: unknown) => {
    remove();
    throw error;
  });
  return {
    store,
    url: temporary,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      remove();
      process.off("exit", remove);
    },
  };
}

/** What is shown must not hold a password. */
function withoutLogin(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//…@");
}
