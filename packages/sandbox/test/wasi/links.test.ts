import { describe, expect, it } from "vitest";
import { newGuest, newJailedGuest, O, ROOT } from "./guest.js";

describe("path_symlink and path_readlink", () => {
  it("keep the target as it was written", () => {
    const guest = newGuest();

    expect(guest.symlink("../somewhere/else", "link")).toBe("ok");
    expect(guest.readlink("link")).toBe("../somewhere/else");
    expect(guest.readlink("link", 4)).toBe("../s");
    expect(guest.readlink("link", 0)).toBe("");
  });

  it("refuse what is no link, and what is not there", () => {
    const guest = newGuest();
    guest.file("file");

    expect(guest.readlink("file")).toBe("EINVAL");
    expect(guest.readlink(".")).toBe("EINVAL");
    expect(guest.readlink("missing")).toBe("ENOENT");
    expect(guest.symlink("", "link")).toBe("ENOENT");
    expect(guest.symlink("a\0b", "link")).toBe("EINVAL");
  });

  it("do not replace anything, and take no slash", () => {
    const guest = newGuest();
    guest.file("file");
    guest.path("path_create_directory", "dir");
    guest.symlink("x", "link");

    expect(guest.symlink("source", "new/")).toBe("ENOENT");
    expect(guest.symlink("source", "dir")).toBe("EEXIST");
    expect(guest.symlink("source", "dir/")).toBe("EEXIST");
    expect(guest.symlink("source", "file")).toBe("EEXIST");
    expect(guest.symlink("source", "file/")).toBe("EEXIST");
    expect(guest.symlink("source", "link")).toBe("EEXIST");
  });
});

describe("path_link", () => {
  it("gives a file a second name that is as good as the first", () => {
    const guest = newGuest();
    guest.file("file", "content");

    expect(guest.link("file", "second")).toBe("ok");

    expect(guest.mustStat("file")).toEqual(guest.mustStat("second"));
    expect(guest.mustStat("second").links).toBe(2n);
    const fd = guest.mustOpen("second");
    guest.write(fd, "C");
    guest.path("path_unlink_file", "file");
    expect(guest.mustStat("second").links).toBe(1n);
    expect(guest.readAt(fd, 0n, 20)).toBe("Content");
  });

  it("links a symbolic link itself, and follows none", () => {
    const guest = newGuest();
    guest.symlink("dangling", "link");

    expect(guest.link("link", "second")).toBe("ok");
    expect(guest.readlink("second")).toBe("dangling");
    expect(guest.mustStat("second", { follow: false }).links).toBe(2n);
    expect(guest.link("link", "third", { lookup: 1 })).toBe("EINVAL");
  });

  it("refuses directories, names that are taken, and slashes", () => {
    const guest = newGuest();
    guest.file("file");
    guest.path("path_create_directory", "dir");

    expect(guest.link("dir", "second")).toBe("EPERM");
    expect(guest.link("file", "dir")).toBe("EEXIST");
    expect(guest.link("file", "file")).toBe("EEXIST");
    expect(guest.link("file", "second/")).toBe("ENOENT");
    expect(guest.link("file/", "second")).toBe("ENOTDIR");
    expect(guest.link("missing", "second")).toBe("ENOENT");
  });

  it("reaches nothing outside", () => {
    const guest = newJailedGuest();
    guest.symlink("..", "up");

    expect(guest.link("../secret", "mine")).toBe("EPERM");
    expect(guest.link("up/secret", "mine")).toBe("EPERM");
    guest.file("file");
    expect(guest.link("file", "../planted")).toBe("EPERM");
  });
});

describe("path_rename", () => {
  it("moves files and directories", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    guest.file("dir/file", "content");

    expect(guest.rename("dir", "moved")).toBe("ok");
    expect(guest.stat("dir")).toBe("ENOENT");
    expect(guest.rename("moved/file", "file")).toBe("ok");
    expect(guest.list("moved")).toEqual([".", ".."]);
    expect(guest.read(guest.mustOpen("file"), 20)).toBe("content");
  });

  it("replaces a file by a file, and an empty directory by a directory", () => {
    const guest = newGuest();
    guest.file("a", "new");
    guest.file("b", "old");
    const open = guest.mustOpen("b");
    for (const path of ["source", "source/below", "empty", "full", "full/below"])
      guest.path("path_create_directory", path);

    expect(guest.rename("a", "b")).toBe("ok");
    expect(guest.read(guest.mustOpen("b"), 9)).toBe("new");
    expect(guest.read(open, 9)).toBe("old");
    expect(guest.rename("source", "full")).toBe("ENOTEMPTY");
    expect(guest.rename("source", "empty")).toBe("ok");
    expect(guest.mustStat("empty/below")).toMatchObject({ type: 3 });
  });

  it("does not mix the kinds", () => {
    const guest = newGuest();
    guest.file("file");
    guest.path("path_create_directory", "dir");

    expect(guest.rename("dir", "file")).toBe("ENOTDIR");
    expect(guest.rename("file", "dir")).toBe("EISDIR");
  });

  it("takes a slash behind directories alone", () => {
    const guest = newGuest();
    guest.file("file");
    guest.path("path_create_directory", "dir");

    expect(guest.rename("file", "new/")).toBe("ENOTDIR");
    expect(guest.rename("file/", "new")).toBe("ENOTDIR");
    expect(guest.rename("dir/", "new")).toBe("ok");
    expect(guest.rename("new", "dir/")).toBe("ok");
    expect(guest.rename("dir/", "new/")).toBe("ok");
  });

  it("does not move a directory into itself", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "a");
    guest.path("path_create_directory", "a/b");

    expect(guest.rename("a", "a/b/c")).toBe("EINVAL");
    expect(guest.rename("a", "a/c")).toBe("EINVAL");
    expect(guest.rename("a/b", "a")).toBe("ENOTEMPTY");
    expect(guest.list("a")).toEqual([".", "..", "b"]);
  });

  it("does nothing to two names of one file, and to a name itself", () => {
    const guest = newGuest();
    guest.file("file");
    guest.link("file", "second");

    expect(guest.rename("file", "second")).toBe("ok");
    expect(guest.rename("file", "file")).toBe("ok");
    expect(guest.list(".")).toEqual([".", "..", "file", "second"]);
  });

  it("moves a link, not what it leads to", () => {
    const guest = newGuest();
    guest.file("file");
    guest.symlink("file", "link");

    expect(guest.rename("link", "moved")).toBe("ok");
    expect(guest.readlink("moved")).toBe("file");
  });

  it("takes no dots, and nothing that is missing or outside", () => {
    const guest = newJailedGuest();
    guest.path("path_create_directory", "dir");

    expect(guest.rename("dir/.", "other")).toBe("EBUSY");
    expect(guest.rename("dir", ".")).toBe("EBUSY");
    expect(guest.rename("missing", "other")).toBe("ENOENT");
    expect(guest.rename("dir", "missing/other")).toBe("ENOENT");
    expect(guest.rename("dir", "../dir")).toBe("EPERM");
    expect(guest.rename("../secret", "mine")).toBe("EPERM");
  });

  it("works between two directories that are open", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "a");
    guest.path("path_create_directory", "b");
    guest.file("a/file", "content");
    const [from, to] = [guest.mustOpen("a", { flags: O.directory }), guest.mustOpen("b", { flags: O.directory })];

    expect(guest.rename("file", "moved", from, to)).toBe("ok");
    expect(guest.mustStat("b/moved", { fd: ROOT }).size).toBe(7n);
  });
});
