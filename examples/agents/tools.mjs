// Tools for the agents beside this file. A module is trusted code: `--module tools.mjs` loads it into the process that runs agents.
import { defineTool } from "bursar";

const NOTES = {
  tea: [
    "Tea is made of leaves.",
    "Green and black tea come from the same plant.",
    "Water for green tea must not boil.",
  ],
  coffee: ["Coffee is made of roasted seeds.", "It is grown between the tropics."],
};

/** Finds notes about a topic. A call is said to cost a cent at most, and reports what it did cost. */
export const search = defineTool({
  name: "notes/search",
  description: "Finds notes about a topic.",
  input: {
    type: "object",
    properties: { topic: { type: "string" } },
    required: ["topic"],
  },
  quote: { cost_usd: 0.01 },
  meter: (found) => ({ cost_usd: 0.002 * found.length }),
  run: ({ topic }) => NOTES[topic] ?? [],
});

/** Sends a letter, which cannot be taken back: a human has to say yes to each, and it is never tried twice. */
export const send = defineTool({
  name: "mail/send",
  description: "Sends a letter.",
  input: {
    type: "object",
    properties: { to: { type: "string" }, text: { type: "string" } },
    required: ["to", "text"],
  },
  approval: true,
  interrupted: "fail",
  run: ({ to, text }) => `sent ${text.length} characters to ${to}`,
});
