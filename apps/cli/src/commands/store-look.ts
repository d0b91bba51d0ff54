import { systemClock } from "bursar";
import { checkText, infoText } from "../render/report.js";
import { COMMON_HELP, type StoreCommand } from "./store-work.js";

export const info: StoreCommand = {
  help: `Usage: bursar store info [flags]

What there is in a store, how much of it, and what is open.

Flags:
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar store info
  bursar store info --store postgres://bursar@localhost/bursar --json
`,
  async run({ housekeeping, style }) {
    const report = await housekeeping.info();
    return { report, text: infoText(report, systemClock.now().instant, style) };
  },
};

export const check: StoreCommand = {
  help: `Usage: bursar store check [flags]

Verifies every chain against its head and against the tenant's chain, compares
budgets with the links that opened and extended them, and adds up all books.
It changes nothing, and others may go on writing.

Flags:
  --archive <folder>  verify the files of archived chains too
${COMMON_HELP}

Exit codes: 0 sound, 1 something is wrong, 2 not understood, 130 interrupted

Examples:
  bursar store check
  bursar store check --archive archive --store sqlite:bursar.db
  bursar store check --json | jq .defects
`,
  flags: { archive: { type: "string" } },
  async run({ housekeeping, flags, options, style }) {
    const { archive } = flags;
    const report = await housekeeping.check({ ...options, ...(typeof archive === "string" ? { archive } : {}) });
    return { report, text: checkText(report, style), code: report.ok ? 0 : 1 };
  },
};
