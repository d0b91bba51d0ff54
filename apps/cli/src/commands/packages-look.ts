import { licences as licencesIn, listPackages, type PackageLicence, type Stored } from "@bursar/sandbox/packages";
import { bytes } from "../render/quantities.js";
import { harmless, pad, printable, type Style } from "../render/style.js";
import { sizeOf, summaryOf } from "./packages-add.js";
import { COMMON_HELP, type PackagesCommand } from "./packages-work.js";

export const list: PackagesCommand = {
  help: `Usage: bursar packages list [flags]

The packages that sessions can mount, with their licences and where they came
from.

Flags:
${COMMON_HELP}

Exit codes: 0 done, 1 one of them is damaged, 2 not understood

Examples:
  bursar packages list
  bursar packages list --json | jq -r '.packages[].name'
`,
  names: "none",
  async run({ folder, style }) {
    const stored = await listPackages(folder);
    const packages = stored.flatMap((each) => (each.kind === "sound" ? [summaryOf(each.record)] : []));
    const damaged = stored.flatMap((each) => (each.kind === "damaged" ? [each] : []));
    const ok = damaged.length === 0;
    const report = { ok, folder, packages, damaged: damaged.map(({ kind: _, ...rest }) => rest) };
    return { report, text: listText(folder, stored, style), code: ok ? 0 : 1 };
  },
};

export const licences: PackagesCommand = {
  help: `Usage: bursar packages licences [package] … [flags]

The licences of packages and of all that they need, or of everything there is.

Flags:
  --texts          whole texts instead of names, as for a file of notices
${COMMON_HELP}

Exit codes: 0 done, 1 a package is missing or damaged, 2 not understood

Examples:
  bursar packages licences
  bursar packages licences openpyxl --texts > NOTICE
`,
  names: "allowed",
  flags: { texts: { type: "boolean" } },
  async run({ folder, names, flags, style }) {
    const damaged = names.length > 0 ? [] : (await listPackages(folder)).filter(({ kind }) => kind === "damaged");
    const found = await licencesIn(folder, names.length > 0 ? names : undefined);
    const texts = flags.texts === true;
    const shown = texts ? found : found.map(({ texts: _, ...rest }) => rest);
    const text = texts ? found.map((each) => textsText(each)).join("\n") : licencesText(folder, found, style);
    const ok = damaged.length === 0;
    return {
      report: { ok, folder, licences: shown },
      text: `${text}${damaged.map((each) => damagedText(each, style)).join("")}`,
      code: ok ? 0 : 1,
    };
  },
};

/** A name of a licence may be a whole paragraph; the texts have it all. */
const MOST_LICENCE = 32;

function listText(folder: string, stored: readonly Stored[], style: Style): string {
  if (stored.length === 0) return nothing(folder);
  const rows = stored.map((each) => {
    if (each.kind === "damaged") return null;
    const { name, version, licence, source, files } = each.record;
    return [name, version, licenceName(licence), source, bytes(sizeOf(files))];
  });
  const table = columns(rows.flatMap((row) => (row === null ? [] : [row])));
  const damaged = stored.filter(({ kind }) => kind === "damaged");
  return `${table}${damaged.map((each) => damagedText(each, style)).join("")}${style.dim(`  in ${harmless(folder)}`)}\n`;
}

function licencesText(folder: string, found: readonly PackageLicence[], style: Style): string {
  if (found.length === 0) return nothing(folder);
  const table = columns(found.map(({ name, version, licence }) => [name, version, licenceName(licence)]));
  return `${table}${style.dim("  the whole texts: --texts")}\n`;
}

function textsText({ name, version, licence, texts }: PackageLicence): string {
  const title = harmless(`${name} ${version}${licence === null ? "" : `: ${licence}`}`);
  const parts = texts.map(({ text }) => `\n${printable(text.replaceAll("\r\n", "\n")).trimEnd()}\n`);
  return `${title}\n${"=".repeat(Math.min(78, title.length))}\n${parts.join("")}`;
}

function damagedText(stored: Stored, style: Style): string {
  if (stored.kind === "sound") return "";
  const { name, version, problem } = stored;
  return `${style.bad(`✗ ${name} ${version} is damaged`)}: ${harmless(problem)}; add it again, or remove it\n`;
}

function licenceName(licence: string | null): string {
  if (licence === null) return "none named";
  return licence.length > MOST_LICENCE ? `${licence.slice(0, MOST_LICENCE - 1)}…` : licence;
}

function nothing(folder: string): string {
  return `  no packages in ${harmless(folder)} yet; add one: bursar packages add openpyxl\n`;
}

/** Cells below each other, each column as wide as its widest cell. */
function columns(rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(harmless));
  const widths = clean[0]?.map((_, at) => Math.max(...clean.map((row) => row[at]?.length ?? 0))) ?? [];
  return clean
    .map((row) => `  ${row.map((cell, at) => pad(cell, widths[at] ?? 0)).join("  ")}`.trimEnd().concat("\n"))
    .join("");
}
