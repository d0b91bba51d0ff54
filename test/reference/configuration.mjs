import { ConfigError, EXAMPLE, PRESETS, readConfig } from "bursar/config";

const UNKNOWN = "no-such-key";
/** Every place of a configuration that has keys of its own, with a name where somebody chooses one. */
const PLACES = [
  [],
  ["governance"],
  ["governance", "policies", "<name>"],
  ["governance", "agents", "<name>"],
  ["governance", "sessions", "<name>"],
  ["governance", "tenant"],
  ["webhook"],
];

/** The keys a configuration may have, as its own reader tells them to somebody who has mistyped one. */
export function configurationPage() {
  const rows = PLACES.map(
    (place) =>
      `| ${nameOf(place)} | ${keysAt(place)
        .map((key) => `\`${key}\``)
        .join(", ")} |`,
  );
  const presets = Object.entries(PRESETS).map(
    ([name, input]) => `### ${name}\n\n\`\`\`json\n${JSON.stringify(input, null, 2)}\n\`\`\``,
  );
  const text = `# Configuration

What \`bursar.yaml\` may hold. What each key means stands in [CONFIGURATION.md](../CONFIGURATION.md).

| in | keys |
|---|---|
${rows.join("\n")}

## What config init writes

\`\`\`yaml
${EXAMPLE.trimEnd()}
\`\`\`

## Shipped policies

${presets.join("\n\n")}
`;
  return {
    file: "configuration.md",
    title: "Configuration",
    about: "The keys of `bursar.yaml`, and shipped policies.",
    text,
  };
}

function nameOf(place) {
  return place.length === 0 ? "the file" : `\`${place.join(".")}\``;
}

function keysAt(place) {
  const lines = [...place, UNKNOWN].map((key, depth) => `${"  ".repeat(depth)}"${key}":`);
  try {
    readConfig(`${lines.join("\n")} 1\n`, { file: "bursar.yaml" });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const told = error.problems.find(({ field }) => field.endsWith(UNKNOWN));
    const [, known] = /; known: (.*)$/.exec(told?.message ?? "") ?? [];
    if (known !== undefined) return known.split(", ");
  }
  throw new Error(`the configuration does not tell which keys ${nameOf(place)} has`);
}
