import { type Head, type Verification, verifyJsonl } from "bursar/chain";
import { sha256Hex } from "./sha256.js";

/** What is to be verified. */
export type Subject =
  | { readonly kind: "run"; readonly address: string; readonly head: Head }
  | { readonly kind: "file"; readonly file: Blob };

/** How far a verification is, and how it ended. */
export type Report =
  | { readonly kind: "progress"; readonly links: number }
  | { readonly kind: "verified"; readonly verification: Verification }
  | { readonly kind: "failed"; readonly message: string };

const LINE_FEED = 0x0a;

/** Verifies a chain from a stream of bytes, with the code that the command line uses, and tells how far it is. */
export async function verifySubject(subject: Subject, tell: (report: Report) => void): Promise<void> {
  try {
    const bytes = counted(await open(subject), (links) => tell({ kind: "progress", links }));
    // A chain may have grown since its head was read.
    const known = subject.kind === "run" ? { head: subject.head, mayContinue: true } : {};
    tell({ kind: "verified", verification: await verifyJsonl(bytes, { hash: sha256Hex, ...known }) });
  } catch (error) {
    tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

async function open(subject: Subject): Promise<ReadableStream<Uint8Array>> {
  if (subject.kind === "file") return subject.file.stream();
  const response = await fetch(subject.address);
  if (!response.ok || response.body === null) throw new Error(`The server answered with status ${response.status}.`);
  return response.body;
}

/** Passes the bytes on and counts the lines among them. */
async function* counted(stream: ReadableStream<Uint8Array>, tell: (lines: number) => void): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let lines = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
      for (const byte of value) if (byte === LINE_FEED) lines++;
      tell(lines);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
