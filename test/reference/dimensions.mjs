import { STANDARD, writeAmount } from "bursar";

const KINDS = {
  sum: "grows with every call",
  peak: "keeps the highest value seen",
  clock: "runs by itself, and is never reserved",
};

export function dimensionsPage() {
  const rows = STANDARD.all.map((dimension) => {
    const { id, kind, unit, decimals, defaultLimit, defaultPolicy, description } = dimension;
    const limit = defaultLimit === null ? "none" : writeAmount(dimension, defaultLimit).toLocaleString("en-US");
    return `| \`${id}\` | ${description} | ${kind} | ${unit} | ${decimals} | ${limit} | \`${defaultPolicy}\` |`;
  });
  const kinds = Object.entries(KINDS).map(([kind, what]) => `- **${kind}** ${what}.`);
  const text = `# Dimensions

What every ledger counts. Further ones are made with [\`defineDimension\`](bursar.md#definedimension).

| id | what it is | kind | unit | decimals | default limit of a run | at the limit |
|---|---|---|---|---|---|---|
${rows.join("\n")}

${kinds.join("\n")}
`;
  return { file: "dimensions.md", title: "Dimensions", about: "What is counted, with units and defaults.", text };
}
