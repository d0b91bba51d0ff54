import { remember } from "../../core/chain/remember.js";

/** Families that answer without thinking first. What is not listed may think, and hide it. */
const PLAIN = ["gpt-3.5", "gpt-4", "chatgpt-4o", "gpt-audio", "text-", "davinci", "babbage"];

/** Families of before OpenAI charged for writing to its cache, beside the numbered ones. */
const UNCHARGED_CACHE = [...PLAIN, "o1", "o3", "o4", "codex-mini", "computer-use", "gpt-oss"];

/** Models that search the web with every call, which is paid for by the search, and Groq's, which use its tools as they like. */
const SEARCHING = /-search-preview|-search-api|-deep-research|^compound(?:-beta)?(?:-mini)?$/;

/** The dearest an image is cut into: 8 tiles of 5667 tokens and 2833 on top (gpt-4o-mini); 10,000 patches at 2.46; 8 tiles of 170 and 85. */
const IMAGE = { dearest: 48_169, patches: 24_600, tiles: 1_445, low: 2_833 };

/** What the name of a model of OpenAI's says about it, however a gateway or a fine-tuning has dressed it up. */
export interface OpenaiModel {
  /** It may think without showing it. */
  readonly thinks: boolean;
  /** It takes `max_completion_tokens` alone, wherever it is served. */
  readonly newLimit: boolean;
  /** Whether writing to the cache costs more than reading input; null when the name is not known. */
  readonly cacheCharged: boolean | null;
  /** It uses a tool of the provider's own without being told to. */
  readonly searches: boolean;
  imageTokens(detail: unknown): number;
}

/** It is asked with every call, and programs use few models. */
export const openaiModel: (model: string) => OpenaiModel = remember(readName);

function readName(model: string): OpenaiModel {
  const name = bareName(model);
  const version = versionOf(name);
  const oSeries = /^o[1-9]/.test(name);
  return {
    thinks: !startsWithOne(name, PLAIN),
    newLimit: oSeries || (version !== null && version >= 500),
    cacheCharged: startsWithOne(name, UNCHARGED_CACHE) ? false : version === null ? null : version >= 506,
    searches: SEARCHING.test(name),
    imageTokens: (detail) => (detail === "low" ? Math.min(IMAGE.low, imageOf(name, version)) : imageOf(name, version)),
  };
}

/** The most an image of any size comes to. Small models count the same image as more tokens than large ones do. */
function imageOf(name: string, version: number | null): number {
  if (name.includes("mini") || name.includes("nano")) return IMAGE.dearest;
  if (/^(?:o[13]|(?:chat)?gpt-4)/.test(name)) return IMAGE.tiles;
  return version === null ? IMAGE.dearest : IMAGE.patches;
}

/** `openai/gpt-5` → gpt-5; `ft:gpt-4o-mini:acme` → gpt-4o-mini:acme. */
function bareName(model: string): string {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return name.startsWith("ft:") ? name.slice(3) : name;
}

/** gpt-5.6 → 506; gpt-5-6-sol → 506; gpt-5-2025-08-07 → 500; null for other names. */
function versionOf(name: string): number | null {
  const [, major, minor = "0"] = /^gpt-(\d{1,2})(?:[.-](\d{1,2})(?!\d))?/.exec(name) ?? [];
  return major === undefined ? null : Number(major) * 100 + Number(minor);
}

function startsWithOne(name: string, families: readonly string[]): boolean {
  return families.some((family) => name.startsWith(family));
}
