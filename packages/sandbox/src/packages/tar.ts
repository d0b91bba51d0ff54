import { posix } from "node:path";
import { PackageError, show } from "./errors.js";
import { checkPath, MAX_FILE_BYTES, MAX_FILES, MAX_PACKAGE_BYTES, type PackageFile } from "./paths.js";

/** What a tar holds: files, and links that did not lead to one of them. */
export interface TarContent {
  readonly files: readonly PackageFile[];
  readonly danglingLinks: readonly string[];
}

const BLOCK = 512;
const MAX_LINK_STEPS = 8;
const TEXT_LIMIT_BYTES = 64 * 1024;

interface Header {
  readonly name: string;
  readonly type: string;
  readonly link: string;
  readonly bytes: number;
}

interface Names {
  path?: string;
  link?: string;
}

/**
 * Reads a tar into memory; nothing of it ever becomes a file by itself. Links to files inside the tar become copies of
 * them; where others lead is the business of the machine the tar was made for.
 */
export function readTar(tar: Buffer): TarContent {
  const files = new Map<string, Uint8Array>();
  const links = new Map<string, string>();
  let total = 0;
  let names: Names = {};
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const header = readHeader(tar, at);
    if (header === null) break;
    const body = tar.subarray(at + BLOCK, at + BLOCK + header.bytes);
    if (body.length !== header.bytes) throw refused(`${show(header.name)} is cut off`);
    at += BLOCK + Math.ceil(header.bytes / BLOCK) * BLOCK;
    const long = readLongNames(header, body);
    if (long !== null) {
      names = { ...names, ...long };
      continue;
    }
    const written = names.path ?? header.name;
    const link = names.link ?? header.link;
    names = {};
    total += header.bytes;
    if (files.size + links.size >= MAX_FILES) throw refused(`it holds more than ${MAX_FILES} files`);
    if (total > MAX_PACKAGE_BYTES) throw refused(`it unpacks to more than ${MAX_PACKAGE_BYTES} bytes`);
    place(header.type, written, link, body, files, links);
  }
  return followLinks(files, links);
}

function place(
  type: string,
  written: string,
  link: string,
  body: Buffer,
  files: Map<string, Uint8Array>,
  links: Map<string, string>,
): void {
  switch (type) {
    case "0":
    case "7":
      files.set(checkPath(written), body);
      return;
    case "5":
      // A folder exists by what is in it; the root itself is written "./".
      if (!/^\.?\/?$/.test(written)) checkPath(written.replace(/\/+$/, ""));
      return;
    case "1":
      links.set(checkPath(written), `/${link.replace(/^\.?\//, "")}`);
      return;
    case "2":
      links.set(checkPath(written), posix.resolve("/", posix.dirname(checkPath(written)), link));
      return;
    default:
      throw refused(`it holds ${show(written)}, which is neither a file nor a folder nor a link (type ${show(type)})`);
  }
}

/** A chain of links ends after a few steps, or goes round in circles. */
function followLinks(files: ReadonlyMap<string, Uint8Array>, links: ReadonlyMap<string, string>): TarContent {
  const found = [...files].map(([path, bytes]) => ({ path, bytes }));
  const danglingLinks: string[] = [];
  for (const [path, first] of links) {
    let target: string | undefined = first.slice(1);
    for (let step = 0; step < MAX_LINK_STEPS && target !== undefined && !files.has(target); step++) {
      target = links.get(target)?.slice(1);
    }
    const bytes = target === undefined ? undefined : files.get(target);
    if (bytes === undefined) danglingLinks.push(path);
    else found.push({ path, bytes });
  }
  const total = found.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > MAX_PACKAGE_BYTES) throw refused(`it unpacks to more than ${MAX_PACKAGE_BYTES} bytes`);
  return { files: found, danglingLinks };
}

/** Null at the block of zeros that ends a tar. */
function readHeader(tar: Buffer, at: number): Header | null {
  const block = tar.subarray(at, at + BLOCK);
  if (block.every((byte) => byte === 0)) return null;
  const sum = block.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  if (sum !== readOctal(block.subarray(148, 156))) throw refused("it is no tar, or it is damaged");
  const bytes = readOctal(block.subarray(124, 136));
  const isPosix = block.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isPosix ? readText(block.subarray(345, 500)) : "";
  const name = readText(block.subarray(0, 100));
  const type = readText(block.subarray(156, 157)) || "0";
  if (bytes > MAX_FILE_BYTES) throw refused(`${show(name)} holds more than ${MAX_FILE_BYTES} bytes`);
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    type,
    link: readText(block.subarray(157, 257)),
    // A link says how large its target is, and has no body.
    bytes: ["1", "2", "5"].includes(type) ? 0 : bytes,
  };
}

/** Names that do not fit into a header come in an entry of their own before it: GNU's `L` and `K`, or pax's `x`. */
function readLongNames({ type, bytes }: Header, body: Buffer): Names | null {
  if (!["L", "K", "x", "g"].includes(type)) return null;
  if (bytes > TEXT_LIMIT_BYTES) throw refused("it has a name that is longer than any name");
  if (type === "L") return { path: readText(body) };
  if (type === "K") return { link: readText(body) };
  return type === "x" ? readPax(body) : {};
}

/** Lines of `length key=value`, where the length counts the whole line. */
function readPax(body: Buffer): Names {
  const names: Names = {};
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(" ", at);
    const length = blank === -1 ? Number.NaN : Number(body.toString("latin1", at, blank));
    if (!Number.isInteger(length) || length <= blank - at || at + length > body.length) throw refused("it is damaged");
    const line = body.toString("utf8", blank + 1, at + length - 1);
    const equals = line.indexOf("=");
    const value = line.slice(equals + 1);
    if (line.startsWith("path=")) names.path = value;
    else if (line.startsWith("linkpath=")) names.link = value;
    else if (line.startsWith("size=")) throw refused("it holds a file of more than 8 GB");
    at += length;
  }
  return names;
}

function readText(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? field.length : end);
}

function readOctal(field: Buffer): number {
  const text = readText(field).trim();
  if (!/^[0-7]*$/.test(text)) throw refused("it is no tar, or it is damaged");
  return text === "" ? 0 : Number.parseInt(text, 8);
}

function refused(problem: string): PackageError {
  return new PackageError("package_refused", problem);
}
