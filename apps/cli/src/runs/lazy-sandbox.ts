import type { Sandbox as GuestHouse } from "bursar";

/** A sandbox that is opened when the first guest needs it: most commands never do. */
export class LazySandbox implements AsyncDisposable {
  private opening: Promise<GuestHouse & AsyncDisposable> | null = null;

  readonly open = (): Promise<GuestHouse> => {
    this.opening ??= import("@bursar/sandbox").then(({ openSandbox }) => openSandbox());
    return this.opening;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const sandbox = await this.opening?.catch(() => null);
    await sandbox?.[Symbol.asyncDispose]();
  }
}
