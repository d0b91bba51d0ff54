import type { Sandbox as GuestHouse, OpenSandbox } from "bursar";

/** A sandbox that is opened when the first guest needs it: most commands never do. */
export class LazySandbox implements AsyncDisposable {
  private opening: Promise<GuestHouse & AsyncDisposable> | null = null;
  private readonly keyFile: string | undefined;

  /** Whoever goes on with a guest that was saved elsewhere needs the key that it was signed with there. */
  constructor(env: Readonly<Record<string, string | undefined>> = process.env) {
    this.keyFile = env.BURSAR_SANDBOX_KEY || undefined;
  }

  /** Whether anybody has needed it yet. */
  get isOpen(): boolean {
    return this.opening !== null;
  }

  readonly open: OpenSandbox = Object.assign(
    (): Promise<GuestHouse> => {
      this.opening ??= import("@bursar/sandbox").then(({ openSandbox }) => openSandbox(this.options));
      return this.opening;
    },
    {
      keyFingerprint: async () => {
        const { sandboxKeyFingerprint } = await import("@bursar/sandbox");
        return sandboxKeyFingerprint(this.options);
      },
    },
  );

  private get options(): { readonly keyFile?: string } {
    return this.keyFile === undefined ? {} : { keyFile: this.keyFile };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sandbox = await this.opening?.catch(() => null);
    await sandbox?.[Symbol.asyncDispose]();
  }
}
