import { describe, expect, test } from "vitest";
import { complaints } from "./helpers.js";

const batches = (rest: string) => `foresight: { batches: { provider: openai, model: m, ${rest} } }`;
const webhook = (rest: string) => `webhook: { ${rest} }`;

describe("the same kind of value is read the same way, wherever it stands", () => {
  test.each([
    [batches("url: 'https://me:pw@host/v1'"), "batches.url has a login in it; leave it out, for the key stands"],
    [
      webhook("url: 'https://me:pw@host/x', secret_env: A"),
      "url has a login in it; leave it out, for requests are signed",
    ],
    [batches("url: 'http://['"), "batches.url is no http or https URL; write it as https://host/v1"],
    [webhook("url: 'http://[', secret_env: A"), "url is no http or https URL; write it as https://host/path"],
    // It is wrong in two ways, and told once.
    [batches("url: 'ftp://me:pw@host'"), "batches.url has a login in it"],
    [batches("url: host"), "batches.url is no http or https URL; write it as https://host/v1"],
    [webhook("url: host, secret_env: A"), "url is no http or https URL; write it as https://host/path"],
    [batches("key_env: pw-1"), "key_env is no name of an environment variable; put the key there, and its name here"],
    [webhook("url: 'https://x', secret_env: pw-1"), "variable; put the secret there, and its name here"],
    ["foresight: { enabled: 1 }", "enabled is 1; allowed: true or false"],
    [
      "foresight: { tiers: { enabled: 1, lists: { a: { tiers: [{ name: a, model: m }] } } } }",
      "enabled is 1; allowed: true",
    ],
    ["foresight: { reuse: { shared: 1 } }", "shared is 1; allowed: true or false"],
    ["foresight: { reuse: { cache: 1 } }", "cache is 1; allowed: true or false, or a mapping"],
    [batches("most_items: 1.5"), "most_items is 1.5; allowed: a whole number from 1 to 50000"],
    ["foresight: { reuse: { embeddings: { inputs: 0 } } }", "inputs is 0; allowed: a whole number from 1 to 2048"],
    [batches("window_ms: 25h"), 'window_ms is "25h"; allowed: a whole number from 0 to 86400000, or a time such as'],
  ])("%s", (text, expected) => {
    const found = complaints(text);
    expect(found).toEqual([expect.stringContaining(expected)]);
    // What may be a secret is never repeated.
    expect(found.join()).not.toContain("pw");
  });
});
