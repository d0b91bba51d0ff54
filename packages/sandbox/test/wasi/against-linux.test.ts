import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Guest, newJailedGuest, O, ROOT } from "./guest.js";

type Step = readonly [what: keyof typeof STEPS, path: string, other: string];

interface Pair {
  readonly guest: Guest;
  readonly base: string;
}

/** Each step on our files, and the same on those of Linux; both give "ok" or the name of the failure. */
const STEPS = {
  mkdir: [({ guest }, a) => guest.path("path_create_directory", a), (at, a) => mkdirSync(at(a))],
  rmdir: [({ guest }, a) => guest.path("path_remove_directory", a), (at, a) => rmdirSync(at(a))],
  unlink: [({ guest }, a) => guest.path("path_unlink_file", a), (at, a) => unlinkSync(at(a))],
  rename: [({ guest }, a, b) => guest.rename(a, b), (at, a, b) => renameSync(at(a), at(b))],
  link: [({ guest }, a, b) => guest.link(a, b), (at, a, b) => linkSync(at(a), at(b))],
  symlink: [({ guest }, a, b) => guest.symlink(a, b), (at, a, b) => symlinkSync(a, at(b))],
  readlink: [({ guest }, a) => answerOf(guest.readlink(a)), (at, a) => readlinkSync(at(a))],
  stat: [({ guest }, a) => answerOf(guest.stat(a)), (at, a) => statSync(at(a))],
  lstat: [({ guest }, a) => answerOf(guest.stat(a, { follow: false })), (at, a) => lstatSync(at(a))],
  write: [({ guest }, a, b) => overwrite(guest, a, b), (at, a, b) => writeFileSync(at(a), b)],
  exclusive: [
    ({ guest }, a) => openAndClose(guest, a, O.create | O.exclusive),
    (at, a) => closeSync(openSync(at(a), constants.O_CREAT | constants.O_EXCL | constants.O_RDWR)),
  ],
  noFollow: [
    ({ guest }, a) => openAndClose(guest, a, 0, false),
    (at, a) => closeSync(openSync(at(a), constants.O_NOFOLLOW | constants.O_RDWR)),
  ],
} satisfies Record<string, readonly [Ours, Theirs]>;

type Ours = (pair: Pair, a: string, b: string) => string;
type Theirs = (at: (path: string) => string, a: string, b: string) => unknown;

const name = fc.constantFrom("a", "b", "c");
const component = fc.oneof({ weight: 5, arbitrary: name }, { weight: 1, arbitrary: fc.constantFrom(".", "..", "") });
const path = fc
  .tuple(name, fc.array(component, { maxLength: 3 }), fc.constantFrom("", "", "", "/"))
  .map(([first, rest, slash]) => [first, ...rest].join("/") + slash);
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])),
  path,
  path,
);

/** Differences that were found once. */
const FOUND: readonly (readonly Step[])[] = [
  [
    ["symlink", "a/", "a"],
    ["write", "a", "a"],
  ],
];

it("answers as Linux does, and leaves the same files", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      const base = mkdtempSync(join(tmpdir(), "bursar-wasi-"));
      try {
        // A second directory, so that what escapes on Linux stays in a place of its own.
        mkdirSync(join(base, "base"));
        compare({ guest: newJailedGuest({ limits: { descriptors: 8 } }), base: join(base, "base") }, steps);
      } finally {
        rmSync(base, { recursive: true });
      }
    }),
    { numRuns: 300, examples: FOUND.map((steps) => [[...steps]]) },
  );
});

function compare(pair: Pair, steps: readonly Step[]): void {
  const at = (path: string): string => `${pair.base}/${path}`;
  for (const [what, a, b] of steps) {
    const [ours, theirs] = STEPS[what] as readonly [Ours, Theirs];
    const answer = ours(pair, a, b);
    const expected = errnoOf(() => theirs(at, a, b));
    if (answer === "EPERM" && expected !== "EPERM") {
      // Linux went outside where we refused to; what it did there cannot be compared.
      if (JSON.stringify(realTree(pair.base)) !== JSON.stringify(ourTree(pair.guest))) return;
      continue;
    }
    expect([what, a, b, answer]).toEqual([what, a, b, expected]);
    expect(ourTree(pair.guest)).toEqual(realTree(pair.base));
  }
}

function errnoOf(call: () => unknown): string {
  try {
    call();
    return "ok";
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
    throw error;
  }
}

function answerOf(result: string | object): string {
  return typeof result === "string" && /^E[A-Z]+$/.test(result) ? result : "ok";
}

function openAndClose(guest: Guest, path: string, flags: number, follow = true): string {
  const fd = guest.open(path, { flags, follow });
  return typeof fd === "string" ? fd : guest.call("fd_close", fd);
}

function overwrite(guest: Guest, path: string, content: string): string {
  const fd = guest.open(path, { flags: O.create | O.truncate });
  if (typeof fd === "string") return fd;
  guest.write(fd, content);
  return guest.call("fd_close", fd);
}

/** Every path with what is there: a directory, the target of a link, or a file's content and its number of names. */
function realTree(base: string): readonly string[] {
  const visit = (path: string): readonly string[] =>
    readdirSync(path).flatMap((name) => {
      const below = join(path, name);
      const shown = below.slice(base.length + 1);
      const stats = lstatSync(below);
      if (stats.isDirectory()) return [`${shown} dir`, ...visit(below)];
      if (stats.isSymbolicLink()) return [`${shown} -> ${readlinkSync(below)} (${stats.nlink})`];
      return [`${shown} = ${readFileSync(below, "utf8")} (${stats.nlink})`];
    });
  return [...visit(base)].sort();
}

function ourTree(guest: Guest): readonly string[] {
  const visit = (path: string): readonly string[] =>
    guest.list(path).flatMap((name) => {
      if (name === "." || name === "..") return [];
      const below = path === "." ? name : `${path}/${name}`;
      const { type, links } = guest.mustStat(below, { follow: false });
      if (type === 3) return [`${below} dir`, ...visit(below)];
      if (type === 7) return [`${below} -> ${guest.readlink(below)} (${links})`];
      const fd = guest.mustOpen(below, { fd: ROOT });
      const content = guest.read(fd, 1000);
      guest.call("fd_close", fd);
      return [`${below} = ${content} (${links})`];
    });
  return [...visit(".")].sort();
}
