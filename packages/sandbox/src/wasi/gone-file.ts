import { FsError } from "./errno.js";
import type { FileInode, OpenFile } from "./inode.js";

/** Stands for a file of the host's that was open when a session was saved, and is not there any more. */
export class GoneFile implements FileInode, OpenFile {
  readonly kind = "file";
  readonly writable = true;
  readonly mount: string;
  readonly path: string;

  constructor(mount: string, path: string) {
    this.mount = mount;
    this.path = path;
  }

  open(): this {
    return this;
  }

  close(): void {}

  size(): never {
    throw new FsError("ESTALE", this.path);
  }

  read(): never {
    throw new FsError("ESTALE", this.path);
  }

  write(): never {
    throw new FsError("ESTALE", this.path);
  }

  resize(): never {
    throw new FsError("ESTALE", this.path);
  }

  sync(): never {
    throw new FsError("ESTALE", this.path);
  }

  stat(): never {
    throw new FsError("ESTALE", this.path);
  }

  setTimes(): never {
    throw new FsError("ESTALE", this.path);
  }
}
