// What the examples beside this file call: the real provider when its key is set, else a scripted one on this machine.
import { openScriptedModel } from "bursar/testing";

/**
 * @typedef {object} Provider
 * @property {string} model a model that the table of prices knows
 * @property {string} url the base address, with `/v1`
 * @property {string} apiKey
 * @property {{ baseURL?: string, apiKey?: string }} client what its SDK is given: nothing when the environment says it all
 * @property {() => Promise<void>} close
 */

const KNOWN = {
  openai: { key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL", at: "https://api.openai.com/v1", model: "gpt-4.1-mini" },
  anthropic: {
    key: "ANTHROPIC_API_KEY",
    base: "ANTHROPIC_BASE_URL",
    at: "https://api.anthropic.com",
    model: "claude-haiku-4-5",
  },
};

/**
 * @param {"openai" | "anthropic"} name
 * @param {import("bursar/testing").Script} script what is answered when there is no key
 * @returns {Promise<Provider>}
 */
export async function openProvider(name, script) {
  const { key, base, at, model } = KNOWN[name];
  const apiKey = process.env[key];
  if (apiKey !== undefined && apiKey !== "") {
    const url = process.env[base] ?? at;
    console.log(`Provider: ${name}, at ${url}, with the key in ${key}.\n`);
    return { model, url, apiKey, client: {}, close: async () => {} };
  }
  const scripted = await openScriptedModel({ script, models: [model] });
  const baseURL = name === "openai" ? scripted.url : scripted.origin;
  console.log(`Provider: a scripted one on this machine. Set ${key} for the real one.\n`);
  return {
    model,
    url: baseURL,
    apiKey: "none",
    client: { baseURL, apiKey: "none" },
    close: () => scripted[Symbol.asyncDispose](),
  };
}
