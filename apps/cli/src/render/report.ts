import type { CheckReport, Defect, StoreInfo } from "bursar/store";
import { bytes, counted, number, span, spanLeft } from "./quantities.js";
import { harmless, pad, type Style, wrap } from "./style.js";

const COLUMNS = 80;
const LABEL = 12;
const INDENT = "    ";

/** One line for each fact, with its label in front. */
export function facts(pairs: readonly (readonly [string, string])[], style: Style): string {
  return pairs.map(([label, text]) => fact(label, text, style)).join("");
}

function fact(label: string, text: string, style: Style): string {
  const [first = "", ...rest] = wrap(harmless(text), COLUMNS - LABEL - 4);
  const more = rest.map((each) => `  ${" ".repeat(LABEL)}${each}\n`).join("");
  return `  ${style.dim(pad(label, LABEL))}${first}\n${more}`;
}

const ENGINES = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;

export function infoText(info: StoreInfo, now: number, style: Style): string {
  const { budgets, calls, chains, runs } = info;
  const statuses = Object.entries(runs).map(([status, count]) => `${number(count)} ${status}`);
  return facts(
    [
      ["store", info.where],
      ["engine", `${ENGINES[info.engine]}, schema version ${info.schema}, ${bytes(info.bytes)}`],
      ["budgets", `${number(budgets.open)} open, ${number(budgets.ended)} ended`],
      ["calls", `${number(calls.all)}, ${number(calls.reserved)} of them in flight`],
      ["chains", `${number(chains.all)}, ${number(chains.archived)} of them archived`],
      ["links", number(info.links)],
      ["runs", statuses.length === 0 ? "none" : statuses.join(", ")],
      ["approvals", `${number(info.approvalsWaiting)} waiting`],
      ["oldest hold", holdText(info.oldestHold, now)],
    ],
    style,
  );
}

function holdText(hold: StoreInfo["oldestHold"], now: number): string {
  if (hold === null) return "none";
  const age = hold.at === null ? "" : `, for ${span(now - hold.at)}`;
  const end =
    hold.expires === null
      ? "never expires"
      : hold.expires > now
        ? `expires in ${spanLeft(hold.expires - now)}`
        : `was due ${span(now - hold.expires)} ago`;
  return `call ${hold.call} of budget ${hold.budget}${age}; ${end}`;
}

export function checkText(report: CheckReport, style: Style): string {
  const { integrity, chains, links, anchors, budgets, calls, errors, warnings, defects } = report;
  const pages = {
    sound: "sound",
    damaged: "damaged",
    not_available: "not checked: PostgreSQL has no check of its pages (see amcheck)",
  };
  const checked = facts(
    [
      ["store", `${report.where} (${ENGINES[report.engine]}, schema version ${report.schema})`],
      ["pages", pages[integrity]],
      ["chains", `${counted(chains, "chain")} with ${counted(links, "link")}${archivedText(report)}`],
      ["anchors", counted(anchors, "head")],
      ["books", `${counted(budgets, "budget")}, ${counted(calls, "call")}`],
    ],
    style,
  );
  const listed = defects.map((defect) => defectText(defect, style)).join("");
  const rest = errors + warnings - defects.length;
  const more = rest === 0 ? "" : `  and ${number(rest)} more\n`;
  return `${checked}\n${listed}${more}${conclusion(errors, warnings, style)}`;
}

/** Whoever reads "sound" has to know of what. */
function archivedText({ archived, files }: CheckReport): string {
  if (archived === 0) return "";
  const told = `, ${number(archived)} archived`;
  if (files === null) return `${told}: not checked without --archive`;
  const which = files === archived ? counted(files, "file") : `${number(files)} of ${counted(archived, "file")}`;
  return `${told}: ${which} verified`;
}

function conclusion(errors: number, warnings: number, style: Style): string {
  const also = warnings === 0 ? "" : `, ${counted(warnings, "warning")}`;
  return errors === 0 ? `${style.good(`✓ sound${also}`)}\n` : `${style.bad(`✗ ${counted(errors, "error")}${also}`)}\n`;
}

function defectText({ severity, where, problem, advice }: Defect, style: Style): string {
  const sign = severity === "error" ? style.bad("✗") : style.warn("!");
  const lines = [...wrap(harmless(problem), COLUMNS - INDENT.length), ...wrap(`→ ${advice}`, COLUMNS - INDENT.length)];
  return `${sign} ${style.bold(harmless(where))}\n${lines.map((line) => `${INDENT}${line}\n`).join("")}`;
}
