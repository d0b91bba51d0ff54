import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { openReuse } from "../../src/models/reuse/reuse.js";
import { complaints } from "./helpers.js";

const within = (text: string) => `foresight: { ${text} }`;
const read = (text: string) => readConfig(within(text)).foresight.reuse;

test.each([
  ["reuse: {}", {}],
  [
    "reuse: { in_flight: true, embeddings: true, cache: true, shared: false }",
    { in_flight: true, embeddings: true, cache: true, shared: false },
  ],
  [
    "reuse: { embeddings: { window_ms: 10ms, inputs: 100, tokens: 5000 } }",
    { embeddings: { window_ms: 10, inputs: 100, tokens: 5000 } },
  ],
  [
    "reuse: { cache: { bytes: 64MB, ttl_ms: 1h, folder: ./answers, folder_bytes: 1 GiB } }",
    { cache: { bytes: 67_108_864, ttl_ms: 3_600_000, folder: "./answers", folder_bytes: 1_073_741_824 } },
  ],
])("%s", (text, section) => {
  const found = read(text);
  expect(found).toEqual(section);
  // What the file may say is what the options take.
  expect(() => openReuse(found as object)).not.toThrow();
});

test.each([
  ["reuse: true", [/reuse is true; allowed: a mapping with in_flight, embeddings, cache, shared/]],
  ["reuse: { inflight: true }", [/reuse.inflight is not known here; did you mean in_flight/]],
  ["reuse: { in_flight: 1, shared: yes please }", [/in_flight is 1; allowed: true or false/, /shared is "yes please"/]],
  ["reuse: { embeddings: 5 }", [/embeddings is 5; allowed: true or false, or a mapping/]],
  ["reuse: { embeddings: { window_ms: 2000, inputs: 4096 } }", [/window_ms is 2000.*from 0 to 1000/, /inputs is 4096/]],
  [
    "reuse: { cache: { bytes: -1, ttl_ms: soon, folder: 7 } }",
    [/bytes is -1/, /ttl_ms is "soon".*a time such as/, /folder is 7/],
  ],
])("%s is told what is wrong", (text, problems) => {
  expect(complaints(within(text))).toEqual(problems.map((each) => expect.stringMatching(each)));
});
