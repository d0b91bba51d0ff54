import { appendFileSync } from "node:fs";
import { defineTool } from "bursar";

/** Each call appends a line to the file that NOTES names, so that a test can count the calls that were made. */
export const note = defineTool({
  name: "note",
  description: "Writes a line down, and tells its length.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: async ({ text }) => {
    appendFileSync(process.env.NOTES, `${text}\n`);
    return text.length;
  },
});
