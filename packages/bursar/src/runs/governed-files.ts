import { randomUUID } from "node:crypto";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { Doing } from "./deed.js";
import { RefusedInside, RunError } from "./error.js";

/** Files of a tool, with what it writes counted before it is written. */
export interface GovernedFiles {
  /** Writes a whole file; the folders above it are made. */
  write(path: string, contents: string | Uint8Array): Promise<void>;
  read(path: string): Promise<Uint8Array>;
  /** The same, but only below a folder: paths that lead out of it are refused. */
  within(folder: string): GovernedFiles;
}

export function governedFiles(doing: Doing, root: string | null = null): GovernedFiles {
  let count = 0;
  const place = (path: string) => (root === null ? resolve(path) : inside(root, path));
  return {
    async write(path, contents) {
      const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
      const { gate, run, key, signal } = doing;
      const gated = await gate.call<null>(
        {
          ...{ budget: run.budget, capability_id: "files.write", kind: "tool", step_id: key, signal },
          ...{ call_id: `${key} write ${count++} ${randomUUID()}` },
          asked: { steps: 0, storage_write_bytes: bytes.length },
        },
        async () => {
          const file = await place(path);
          await mkdir(dirname(file), { recursive: true });
          await writeFile(file, bytes);
          return { value: null };
        },
      );
      if (gated.kind === "failed") throw gated.error;
      if (gated.kind === "done") return;
      throw new RefusedInside(gated.decision, gated.message);
    },
    read: async (path) => readFile(await place(path)),
    within: (folder) => governedFiles(doing, resolve(folder)),
  };
}

/** A path below a folder, also when links are followed. */
async function inside(root: string, path: string): Promise<string> {
  const file = resolve(root, path);
  const refuse = (): never => {
    throw new RunError("path", `${path} is outside of ${root}`);
  };
  const leaves = (from: string, to: string) => {
    const way = relative(from, to);
    return way.startsWith("..") || isAbsolute(way);
  };
  if (leaves(root, file)) refuse();
  const real = await realpath(root);
  for (let folder = file; ; folder = dirname(folder)) {
    const found = await realpath(folder).catch(() => null);
    if (found === null) continue;
    if (leaves(real, found)) refuse();
    return file;
  }
}
