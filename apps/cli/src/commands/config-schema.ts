import { STANDARD } from "bursar";
import { configSchema } from "bursar/config";
import type { ConfigCommand, Done } from "./config-work.js";

export const schema: ConfigCommand = {
  help: `Usage: bursar config schema [flags]

Prints the JSON Schema of bursar.yaml, by which editors complete, explain and
check it. A file of the package has the same:

  # yaml-language-server: $schema=./node_modules/bursar/dist/config.schema.json

Flags:
  --config <file>  without effect: the schema is the same for every file
  --json           the same in one line
  --quiet          nothing but the exit code
  --help           this text

Exit codes: 0 printed, 2 not understood

Examples:
  bursar config schema > bursar.schema.json
`,
  run(): Done {
    const report = configSchema(STANDARD);
    return { report, text: `${JSON.stringify(report, null, 2)}\n` };
  },
};
