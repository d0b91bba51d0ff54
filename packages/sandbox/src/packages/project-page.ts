import { PackageError } from "./errors.js";

/** A file that an index offers for a package. */
export interface IndexFile {
  readonly name: string;
  readonly url: string;
  readonly sha256: string;
  readonly requiresPython: string | null;
  /** Withdrawn by those who published it. */
  readonly yanked: boolean;
  /** The hash of the metadata that is served beside the file, or null where it is not. */
  readonly metadataSha256: string | null;
}

const MAX_LISTED = 200_000;
const SHA256 = /^[0-9a-f]{64}$/;

type Json = Readonly<Record<string, unknown>>;

/** Reads the page of a package (PEP 691). Files without a SHA-256 are passed over: what cannot be checked is not taken. */
export function parseProjectPage(body: Buffer, contentType: string, pageUrl: string): readonly IndexFile[] {
  if (!/^application\/(?:vnd\.pypi\.simple\.(?:v1|latest)\+)?json\b/i.test(contentType)) {
    throw unusable(
      pageUrl,
      `answers with ${contentType || "no content type"} instead of the simple API in JSON (PEP 691)`,
    );
  }
  const page = parseJson(body);
  const meta = isObject(page) ? page.meta : undefined;
  const apiVersion = isObject(meta) ? meta["api-version"] : undefined;
  if (!isObject(page) || !Array.isArray(page.files)) throw unusable(pageUrl, "answers with JSON that lists no files");
  if (typeof apiVersion !== "string" || !apiVersion.startsWith("1.")) {
    throw unusable(
      pageUrl,
      `speaks version ${JSON.stringify(apiVersion ?? null)} of the simple API; 1.x is understood`,
    );
  }
  const listed: readonly unknown[] = page.files;
  if (listed.length > MAX_LISTED) throw unusable(pageUrl, `lists more than ${MAX_LISTED} files`);
  return listed.flatMap((entry) => (isObject(entry) ? readFile(entry, pageUrl) : []));
}

function readFile(entry: Json, pageUrl: string): readonly IndexFile[] {
  const { filename, url, hashes, yanked } = entry;
  const sha256 = isObject(hashes) ? sha256Of(hashes) : null;
  if (typeof filename !== "string" || typeof url !== "string" || sha256 === null) return [];
  if (!URL.canParse(url, pageUrl)) return [];
  const address = new URL(url, pageUrl);
  if (address.protocol !== "https:" && address.protocol !== "http:") return [];
  address.hash = "";
  // An address with a password in it would end up in the record, and fetch does not take one.
  if (address.username !== "" || address.password !== "") return [];
  const requiresPython = entry["requires-python"];
  const metadata = entry["core-metadata"] ?? entry["dist-info-metadata"] ?? entry["data-dist-info-metadata"];
  return [
    {
      name: filename,
      url: address.href,
      sha256,
      requiresPython: typeof requiresPython === "string" ? requiresPython : null,
      yanked: yanked === true || typeof yanked === "string",
      metadataSha256: isObject(metadata) ? sha256Of(metadata) : null,
    },
  ];
}

function sha256Of({ sha256 }: Json): string | null {
  return typeof sha256 === "string" && SHA256.test(sha256) ? sha256 : null;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unusable(pageUrl: string, problem: string): PackageError {
  return new PackageError("source_answer", `${pageUrl} ${problem}; give another index, or use Debian's packages`);
}
