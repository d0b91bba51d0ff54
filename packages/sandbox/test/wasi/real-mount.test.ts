import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Vfs } from "../../src/wasi/vfs.js";
import { failure, type Guest, newGuest, O, ROOT, restoredGuest } from "./guest.js";

let top: string;
let real: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "bursar-mount-"));
  real = join(top, "real");
  mkdirSync(join(real, "dir"), { recursive: true });
  writeFileSync(join(real, "file.txt"), "content");
  writeFileSync(join(real, "dir", "below.txt"), "below");
  writeFileSync(join(top, "secret"), "outside");
  symlinkSync("../secret", join(real, "link"));
  symlinkSync("..", join(real, "up"));
  symlinkSync("dir", join(real, "to-dir"));
});

afterEach(() => rmSync(top, { recursive: true, force: true }));

function guestOn(writable: boolean, limits = {}): Guest {
  const vfs = new Vfs({ mounts: { "/mnt/input": { kind: "directory", path: real, writable } } });
  return newGuest({ vfs, limits });
}

const READ = 0x22;

describe("a directory of the host, read-only", () => {
  it("is read and listed, without its links", () => {
    const guest = guestOn(false);

    expect(guest.list("mnt/input")).toEqual([".", "..", "dir", "file.txt"]);
    expect(guest.read(guest.mustOpen("mnt/input/file.txt", { rights: READ }), 50)).toBe("content");
    expect(guest.read(guest.mustOpen("mnt/input/dir/../dir/below.txt", { rights: READ }), 50)).toBe("below");
    expect(guest.mustStat("mnt/input/file.txt")).toMatchObject({ type: 4, size: 7n });
    expect(guest.mustStat("mnt/input").device).not.toBe(guest.mustStat("mnt").device);
    guest.host.close();
  });

  it("lets nothing be changed", () => {
    const guest = guestOn(false);

    expect(guest.open("mnt/input/file.txt")).toBe("EROFS");
    expect(guest.open("mnt/input/file.txt", { flags: O.truncate, rights: 0 })).toBe("EROFS");
    expect(guest.open("mnt/input/new", { flags: O.create, rights: READ })).toBe("EROFS");
    expect(guest.path("path_create_directory", "mnt/input/new")).toBe("EROFS");
    expect(guest.path("path_unlink_file", "mnt/input/file.txt")).toBe("EROFS");
    expect(guest.path("path_remove_directory", "mnt/input/dir")).toBe("EROFS");
    expect(guest.rename("mnt/input/file.txt", "mnt/input/new")).toBe("EROFS");
    expect(guest.call("path_filestat_set_times", ROOT, 0, ...guest.text("mnt/input/file.txt"), 0n, 0n, 5)).toBe(
      "EROFS",
    );
    expect(guest.call("path_filestat_set_times", ROOT, 0, ...guest.text("mnt/input/dir"), 0n, 0n, 5)).toBe("EROFS");
    const fd = guest.mustOpen("mnt/input/file.txt", { rights: 0x0080_0002 });
    expect(guest.call("fd_filestat_set_times", fd, 0n, 0n, 5)).toBe("EROFS");
    expect(readFileSync(join(real, "file.txt"), "utf8")).toBe("content");
  });

  it("follows no link of the host, at any place of a path", () => {
    const guest = guestOn(true);

    for (const path of ["link", "up", "up/secret", "up/real/file.txt", "to-dir", "to-dir/below.txt", "dir/../link"]) {
      expect([path, guest.open(`mnt/input/${path}`, { rights: READ })]).toEqual([path, "EPERM"]);
      expect([path, guest.stat(`mnt/input/${path}`)]).toEqual([path, "EPERM"]);
      expect([path, guest.path("path_unlink_file", `mnt/input/${path}`)]).toEqual([path, "EPERM"]);
    }
    expect(guest.open("mnt/input/new-dir/../link", { flags: O.create })).toBe("ENOENT");
    expect(guest.rename("mnt/input/file.txt", "mnt/input/up/planted")).toBe("EPERM");
    expect(guest.rename("mnt/input/link", "mnt/input/mine")).toBe("EPERM");
    expect(existsSync(join(top, "planted"))).toBe(false);
  });

  it("refuses sockets and other things that are neither files nor directories", async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(join(real, "socket"), listening));
    const guest = guestOn(true);

    expect(guest.open("mnt/input/socket", { rights: READ })).toBe("EPERM");
    expect(guest.open("mnt/input/socket", { flags: O.create })).toBe("EPERM");
    expect(guest.list("mnt/input")).not.toContain("socket");
    server.close();
  });

  it("ends where it ends: dots lead back into the guest's own files", () => {
    const guest = guestOn(true);
    guest.file("secret", "the guest's own");

    expect(guest.read(guest.mustOpen("mnt/input/../../secret"), 50)).toBe("the guest's own");
    expect(guest.open("mnt/input/../../../secret")).toBe("EPERM");
  });

  it("notices a directory that became a link after it was opened", () => {
    const guest = guestOn(true);
    const fd = guest.mustOpen("mnt/input/dir", { flags: O.directory });
    renameSync(join(real, "dir"), join(real, "moved"));
    symlinkSync("..", join(real, "dir"));

    expect(guest.open("secret", { fd, rights: READ })).toBe("EPERM");
    expect(guest.open("planted", { fd, flags: O.create })).toBe("EPERM");
    expect(guest.readdir(fd)).toBe("EPERM");
    expect(existsSync(join(top, "planted"))).toBe(false);
  });

  it("notices when the mounted directory itself was swapped", () => {
    const guest = guestOn(true);
    renameSync(real, join(top, "old"));
    mkdirSync(real);
    writeFileSync(join(real, "file.txt"), "other");

    expect(guest.open("mnt/input/file.txt", { rights: READ })).toBe("ESTALE");
  });

  it("has to be there, and be a directory", () => {
    expect(failure(() => new Vfs({ mounts: { "/mnt": { kind: "directory", path: join(real, "file.txt") } } }))).toBe(
      "ENOTDIR",
    );
    expect(() => new Vfs({ mounts: { "/mnt": { kind: "directory", path: join(real, "none") } } })).toThrow("ENOENT");
  });
});

describe("a directory of the host, writable", () => {
  it("takes files, directories and renames", () => {
    const guest = guestOn(true);

    guest.file("mnt/input/new.txt", "written");
    expect(guest.path("path_create_directory", "mnt/input/made")).toBe("ok");
    expect(guest.rename("mnt/input/new.txt", "mnt/input/made/moved.txt")).toBe("ok");
    expect(readFileSync(join(real, "made", "moved.txt"), "utf8")).toBe("written");
    expect(guest.path("path_remove_directory", "mnt/input/made")).toBe("ENOTEMPTY");
    expect(guest.path("path_unlink_file", "mnt/input/made/moved.txt")).toBe("ok");
    expect(guest.path("path_remove_directory", "mnt/input/made")).toBe("ok");
    expect(existsSync(join(real, "made"))).toBe(false);
  });

  it("takes no links, and gives none away", () => {
    const guest = guestOn(true);
    guest.file("mine");

    expect(guest.symlink("../secret", "mnt/input/mine")).toBe("EPERM");
    expect(guest.link("mnt/input/file.txt", "mnt/input/second")).toBe("EPERM");
    expect(guest.link("mnt/input/file.txt", "second")).toBe("EXDEV");
    expect(guest.link("mine", "mnt/input/second")).toBe("EPERM");
    expect(guest.rename("mnt/input/file.txt", "moved")).toBe("EXDEV");
    expect(guest.rename("mine", "mnt/input/moved")).toBe("EXDEV");
  });

  it("counts against the same limits", () => {
    const guest = guestOn(true, { bytesWritten: 20, files: 3 });
    const fd = guest.mustOpen("mnt/input/file.txt");

    expect(guest.write(fd, "0123456789")).toBe(10);
    expect(guest.writeAt(fd, 100n, "x")).toBe("ENOSPC");
    expect(guest.call("fd_filestat_set_size", fd, 1000n)).toBe("ENOSPC");
    expect(guest.write(fd, "0123456789a")).toBe("ENOSPC");
    expect(guest.host.bytesWritten).toBe(10);
    guest.file("mnt/input/a");
    guest.file("mnt/input/b");
    expect(guest.open("mnt/input/c", { flags: O.create })).toBe("ENOSPC");
    expect(guest.path("path_create_directory", "mnt/input/c")).toBe("ENOSPC");
  });

  it("keeps a file that is open, whatever becomes of its name", () => {
    const guest = guestOn(true);
    const fd = guest.mustOpen("mnt/input/file.txt");
    guest.path("path_unlink_file", "mnt/input/file.txt");

    expect(guest.read(fd, 50)).toBe("content");
    expect(guest.call("fd_close", fd)).toBe("ok");
  });

  it("reads and writes at positions, resizes and sets times", () => {
    const guest = guestOn(true);
    const fd = guest.mustOpen("mnt/input/file.txt");

    expect(guest.writeAt(fd, 10n, "end")).toBe(3);
    expect(guest.readAt(fd, 0n, 50)).toBe("content\0\0\0end");
    expect(guest.call("fd_filestat_set_size", fd, 4n)).toBe("ok");
    expect(guest.call("fd_filestat_set_times", fd, 1_000_000_000n, 2_000_000_000n, 5)).toBe("ok");
    expect(guest.mustStat(fd)).toMatchObject({ size: 4n, accessed: 1_000_000_000n, modified: 2_000_000_000n });
    expect(guest.call("fd_sync", fd)).toBe("ok");
    expect(readFileSync(join(real, "file.txt"), "utf8")).toBe("cont");
  });

  it("is part of the changes", () => {
    const guest = guestOn(true);
    const mark = guest.host.vfs.mark();

    guest.file("mnt/input/new.txt", "x");
    guest.file("mnt/input/file.txt", "changed");
    guest.file("mnt/input/temporary", "x");
    guest.rename("mnt/input/temporary", "mnt/input/dir/below.txt");

    expect(guest.host.vfs.changes(mark)).toEqual({
      created: ["/mnt/input/new.txt"],
      modified: ["/mnt/input/dir/below.txt", "/mnt/input/file.txt"],
      removed: [],
    });
  });

  it("lets its files be opened again by their paths, and says when one is gone", () => {
    const guest = guestOn(true);
    const kept = guest.mustOpen("mnt/input/file.txt");
    const lost = guest.mustOpen("mnt/input/dir/below.txt");
    const directory = guest.mustOpen("mnt/input/dir", { flags: O.directory });
    guest.read(kept, 3);
    const saved = structuredClone(guest.host.save());
    guest.host.close();
    rmSync(join(real, "dir", "below.txt"));

    const mounts = { "/mnt/input": { kind: "directory", path: real, writable: true } } as const;
    const again = restoredGuest(saved, { mounts });

    expect(again.read(kept, 50)).toBe("tent");
    expect(again.read(lost, 50)).toBe("ESTALE");
    expect(again.readdir(directory)).toMatchObject({ entries: [{ name: "." }, { name: ".." }] });
    expect(() => restoredGuest(saved)).toThrow("/mnt/input");
  });

  it("treats a second name outside as the file it is", () => {
    linkSync(join(real, "file.txt"), join(top, "second"));
    const guest = guestOn(false);

    expect(guest.mustStat("mnt/input/file.txt").links).toBe(2n);
    expect(guest.open("mnt/input/file.txt")).toBe("EROFS");
  });
});
