import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { InputError } from "../core/errors.js";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;
const MOST_FILES = 1000;
const MOST_BYTES = 64 * 1024 * 1024;
/** Names with a hash in them never stand for anything else. */
const LASTING = "public, max-age=31536000, immutable";

interface File {
  readonly bytes: Buffer;
  readonly type: string;
  readonly tag: string;
}

/**
 * The built page. All of it is read once and kept, because it is small; what is asked for is looked up by its name, so that no name,
 * however it is written, leads out of the folder.
 */
export class Page {
  private readonly files: ReadonlyMap<string, File>;

  private constructor(files: ReadonlyMap<string, File>) {
    this.files = files;
  }

  static read(folder: string): Page {
    const files = new Map<string, File>();
    let bytes = 0;
    for (const name of namesIn(folder)) {
      const file = fileOf(join(folder, name), name);
      bytes += file.bytes.length;
      if (files.size >= MOST_FILES || bytes > MOST_BYTES) {
        throw new InputError("page", `${folder} is no built page: it has more than ${MOST_FILES} files, or is too big`);
      }
      files.set(`/${name.replaceAll("\\", "/")}`, file);
    }
    if (!files.has("/index.html")) throw new InputError("page", `${folder} has no index.html; build the page first`);
    return new Page(files);
  }

  /** Whether it has an answer for this; every path that names no file is one of the page's own, as long as people ask for it. */
  serve(pathname: string, incoming: IncomingMessage, response: ServerResponse): boolean {
    const { headers } = incoming;
    const named = pathname === "/" ? "/index.html" : pathname;
    const found = this.files.has(named) ? named : wantsPage(pathname, headers.accept) ? "/index.html" : null;
    const plain = found === null ? undefined : this.files.get(found);
    if (found === null || plain === undefined) return false;
    const { encoding, file } = this.encoded(found, plain, headers["accept-encoding"] ?? "");
    response.setHeader("etag", file.tag);
    response.setHeader("vary", "accept-encoding");
    response.setHeader("cache-control", found.startsWith("/assets/") ? LASTING : "no-cache");
    if (isKnown(headers["if-none-match"], file.tag)) {
      response.writeHead(304).end();
      return true;
    }
    if (encoding !== null) response.setHeader("content-encoding", encoding);
    response.writeHead(200, { "content-type": plain.type, "content-length": file.bytes.length });
    response.end(incoming.method === "HEAD" ? undefined : file.bytes);
    return true;
  }

  private encoded(name: string, plain: File, accepted: string): { encoding: string | null; file: File } {
    for (const [encoding, ending] of ENCODINGS) {
      const file = this.files.get(`${name}${ending}`);
      if (file !== undefined && accepts(accepted, encoding)) return { encoding, file };
    }
    return { encoding: null, file: plain };
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    // A link may lead anywhere, so none is followed.
    return names.filter((name) => lstatSync(join(folder, name)).isFile());
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new InputError("page", `${folder} cannot be read (${code}); build the page first`);
  }
}

function fileOf(path: string, name: string): File {
  const bytes = readFileSync(path);
  const tag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return { bytes, tag, type: TYPES[extname(name)] ?? "application/octet-stream" };
}

/** Whether somebody who looks at pages asks, and not a part of a page that is missing. */
function wantsPage(pathname: string, accept = ""): boolean {
  return accept.includes("text/html") && !pathname.startsWith("/assets/");
}

function accepts(accepted: string, encoding: string): boolean {
  return accepted.split(",").some((each) => {
    const [name = "", ...parameters] = each.split(";");
    return name.trim().toLowerCase() === encoding && !parameters.some((part) => /^\s*q=0(?:\.0*)?\s*$/.test(part));
  });
}

function isKnown(known: string | undefined, tag: string): boolean {
  return known?.split(",").some((each) => each.trim().replace(/^W\//, "") === tag) ?? false;
}
