import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Deed } from "./power-trace.js";

type Change = Extract<Deed, { readonly kind: "written" | "cut" }> & { readonly number: number };

interface OnDisk {
  /** What is there for certain. */
  readonly bytes: Bytes;
  /** What may be there. */
  changes: Change[];
  /** Whether its name is in the folder for certain, may be, or may be gone. */
  name: "kept" | "new" | "removed";
  /** Since which deed it is so. */
  since: number;
}

const SECTOR = 512;
/** Memory that processes share, which is made anew whenever nobody has it open. */
const SHARED = "-shm";

/**
 * A disk of the worst kind that keeps its word: what was synced is there after the power has failed; of everything else any part
 * may be, in any order, and writes may be torn between sectors.
 */
export class Disk {
  private readonly folder: string;
  private readonly keepsWord: boolean;
  private readonly files = new Map<string, OnDisk>();
  private deeds = 0;

  /** With everything that is in a folder now. One that does not keep its word forgets what was synced, too. */
  constructor(folder: string, { keepsWord = true }: { readonly keepsWord?: boolean } = {}) {
    this.folder = folder;
    this.keepsWord = keepsWord;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      this.files.set(path, { bytes: new Bytes(readFileSync(path)), changes: [], name: "kept", since: 0 });
    }
  }

  take(deed: Deed): void {
    const number = this.deeds++;
    if (deed.kind === "said" || (deed.kind === "synced" && !this.keepsWord)) return;
    const { path } = deed;
    if (deed.kind === "synced" && path === this.folder) this.nameAll(deed.asked);
    if (path.endsWith(SHARED) || dirname(path) !== this.folder) return;
    const file = this.files.get(path);
    if (file === undefined || file.name === "removed") {
      if (file !== undefined || deed.kind !== "made") throw new Error(`${path} is ${deed.kind}, and is not there`);
      this.files.set(path, { bytes: new Bytes(Buffer.alloc(0)), changes: [], name: "new", since: number });
    } else if (deed.kind === "removed") Object.assign(file, { name: "removed", since: number });
    else if (deed.kind === "synced") settle(file, deed.asked);
    else if (deed.kind !== "made") file.changes.push({ ...deed, number });
  }

  /** Leaves in another folder what the power has left of everything. */
  fail(into: string, random: () => number): void {
    mkdirSync(into, { recursive: true });
    for (const [path, file] of this.files) {
      if (file.name !== "kept" && random() < 0.5) continue;
      writeFileSync(join(into, basename(path)), left(file, random));
    }
  }

  /** What was done to names before the folder was synced is done for good. */
  private nameAll(asked: number): void {
    for (const [path, file] of this.files) {
      if (file.since >= asked) continue;
      if (file.name === "removed") this.files.delete(path);
      else file.name = "kept";
    }
  }
}

function settle(file: OnDisk, asked: number): void {
  for (const change of file.changes) if (change.number < asked) file.bytes.change(change);
  file.changes = file.changes.filter(({ number }) => number >= asked);
}

function left({ bytes, changes }: OnDisk, random: () => number): Buffer {
  const found = new Bytes(bytes.copy());
  // Nothing of it, all of it, or any part.
  const share = [0, 1, random()][Math.floor(random() * 3)] ?? 0;
  for (const change of changes) {
    if (random() < share) found.change(share < 1 ? torn(change, random) : change);
  }
  return found.copy();
}

/** A write of which only the first sectors have come to the disk, now and then. */
function torn(change: Change, random: () => number): Change {
  if (change.kind !== "written" || random() < 0.8) return change;
  const sectors = Math.floor((random() * change.bytes.length) / SECTOR);
  return { ...change, bytes: change.bytes.subarray(0, sectors * SECTOR) };
}

/** What is in a file. */
class Bytes {
  private buffer: Buffer;
  private length: number;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
    this.length = buffer.length;
  }

  change(change: Change): void {
    const end = change.kind === "cut" ? change.length : change.at + change.bytes.length;
    if (change.kind === "cut" || end > this.length) this.resize(end);
    if (change.kind === "written") change.bytes.copy(this.buffer, change.at);
  }

  copy(): Buffer {
    return Buffer.from(this.buffer.subarray(0, this.length));
  }

  private resize(length: number): void {
    if (length > this.buffer.length) {
      const wider = Buffer.alloc(2 * length);
      this.buffer.copy(wider, 0, 0, this.length);
      this.buffer = wider;
    }
    if (length < this.length) this.buffer.fill(0, length, this.length);
    this.length = length;
  }
}
