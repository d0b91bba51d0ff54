// Writes the JSON Schema of bursar.yaml into the package, for editors. Part of the build.
import { writeFileSync } from "node:fs";
import { configSchema } from "./dist/config/config.js";
import { STANDARD } from "./dist/index.js";

const schema = `${JSON.stringify(configSchema(STANDARD), null, 2)}\n`;
writeFileSync(new URL("dist/config.schema.json", import.meta.url), schema);
