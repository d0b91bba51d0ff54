import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { PackageError, systemCode } from "./errors.js";

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** An index of packages that speaks the simple API in JSON (PEP 691). */
export interface IndexAddress {
  /** Without user and password, and with a slash at the end. */
  readonly url: string;
  readonly authorization: { readonly origin: string; readonly value: string } | undefined;
}

const PUBLIC_INDEX = "https://pypi.org/simple/";

/** Finds the index: as given, else as pip would be told by its variable or its configuration, else the public one. */
export async function findIndex(given: string | undefined, env: ProcessEnvironment): Promise<IndexAddress> {
  const named = given ?? (env.PIP_INDEX_URL || undefined) ?? (await configuredIndex(env));
  return readIndexAddress(named ?? PUBLIC_INDEX);
}

/** Takes user and password out of an address, because nothing that may be a password belongs into a message or a record. */
function readIndexAddress(written: string): IndexAddress {
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new PackageError(
      "source_answer",
      "the package index is no http or https address; give one that speaks the simple API, as in https://host/simple/",
    );
  }
  const { username, password } = url;
  url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  if (username === "" && password === "") return { url: url.href, authorization: undefined };
  const pair = `${decode(username)}:${decode(password)}`;
  return {
    url: url.href,
    authorization: { origin: url.origin, value: `Basic ${Buffer.from(pair).toString("base64")}` },
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A lone percent sign is meant as one.
    return part;
  }
}

/** Reads pip's files from the nearest to the farthest; the first that names an index decides. */
async function configuredIndex(env: ProcessEnvironment): Promise<string | undefined> {
  const home = env.HOME || env.USERPROFILE || homedir();
  const files = [
    env.PIP_CONFIG_FILE,
    env.VIRTUAL_ENV === undefined ? undefined : join(env.VIRTUAL_ENV, "pip.conf"),
    join(env.XDG_CONFIG_HOME || join(home, ".config"), "pip", "pip.conf"),
    join(home, ".pip", "pip.conf"),
    env.APPDATA === undefined ? undefined : join(env.APPDATA, "pip", "pip.ini"),
    "/etc/pip.conf",
  ];
  for (const file of files) {
    const found = file === undefined || file === "" ? undefined : indexIn(await textOf(file));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    // Most of these files do not exist, and one that we may not read is pip's business.
    if (systemCode(error) !== null) return "";
    throw error;
  }
}

/** `index-url` counts in the sections that pip reads when it installs. */
function indexIn(text: string): string | undefined {
  let section = "";
  let found: string | undefined;
  for (const line of text.split(/\r?\n/, 10_000)) {
    const [, name] = /^\s*\[([^\]]+)\]\s*$/.exec(line) ?? [];
    if (name !== undefined) section = name.trim();
    const [, value] = /^\s*index[-_]url\s*[=:]\s*(\S+)\s*$/.exec(line) ?? [];
    if (value !== undefined && ["global", "install", "download"].includes(section)) found = value;
  }
  return found;
}
