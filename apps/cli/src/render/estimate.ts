import type { PreflightDimension } from "bursar";
import type { EstimateView, ExpectedView, PredictedView } from "bursar/views";
import { runFigure } from "./run-figures.js";
import { harmless, pad, type Style, wrap } from "./style.js";
import { tableText } from "./table.js";

const COLUMNS = 80;
const LABEL = 10;

/** What a run would be expected to take, beside what it may. */
export function estimateText(view: EstimateView, width: number, style: Style): string {
  const head = `${style.bold(harmless(view.program))}  ${style.dim("nothing is started")}\n\n`;
  const notes = view.notes.map((note) => `  ${style.warn("note")} ${harmless(note)}\n`).join("");
  if (view.dimensions.length === 0) {
    return `${head}  nobody can say what it will take: it has no past here, and does not tell by itself\n${notes}`;
  }
  return `${head}${figuresText(view.dimensions, width, style)}\n${sourcesText(view, style)}${notes}${conclusion(view, style)}`;
}

/** One line for each dimension, as whoever decides wants to see it. */
function figuresText(dimensions: readonly PreflightDimension[], width: number, style: Style): string {
  const right = true;
  return tableText(
    [
      { title: "dimension" },
      { title: "median", right },
      { title: "95 %", right },
      { title: "limit", right },
      { title: "fits" },
      { title: "source" },
    ] as const,
    dimensions.map((each) => [
      harmless(each.dimension),
      figure(each.dimension, each.median),
      figure(each.dimension, each.upper),
      each.limit === null ? style.dim("none") : bare(runFigure(each.dimension, each.limit)),
      fitText(each, style),
      each.source,
    ]),
    width,
    style,
  );
}

function fitText({ dimension, missing, policy }: PreflightDimension, style: Style): string {
  if (missing <= 0) return style.good("✓ yes");
  const lacks = `${figure(dimension, missing)} missing`;
  return policy === "soft_warn" ? style.warn(`! ${lacks}, warns`) : style.bad(`✗ ${lacks}`);
}

const DIGITS = 3;

/** What nobody knows to the billionth of a dollar is not written so. */
export function roundFigure(dimension: string, value: number): string {
  const isMoney = dimension.endsWith("_usd") && value < 100;
  return runFigure(dimension, isMoney ? Number(value.toPrecision(DIGITS)) : value);
}

/** Without its unit where the name of the dimension says it. */
function figure(dimension: string, value: number): string {
  return bare(roundFigure(dimension, value));
}

function bare(text: string): string {
  return /^[\d,.]+ /.test(text) && !text.endsWith(" s") ? (text.split(" ")[0] ?? text) : text;
}

function sourcesText({ opinions }: EstimateView, style: Style): string {
  return opinions
    .map(({ source, about }) => {
      const [first = "", ...more] = wrap(harmless(about), COLUMNS - LABEL - 2);
      const rest = more.map((line) => `  ${" ".repeat(LABEL)}${line}\n`).join("");
      return `  ${style.dim(pad(source, LABEL))}${first}\n${rest}`;
    })
    .join("");
}

function conclusion({ fits, dimensions }: EstimateView, style: Style): string {
  if (fits) return `\n${style.good("✓ it fits")}\n`;
  const short = dimensions.filter(({ missing, policy }) => missing > 0 && policy !== "soft_warn");
  const what = short.map(
    ({ dimension, upper, limit }) =>
      `${harmless(dimension)} may take ${figure(dimension, upper)}, and ${bare(runFigure(dimension, limit ?? 0))} is allowed`,
  );
  return `\n${style.bad(`✗ it does not fit: ${what.join("; ")}`)}\n`;
}

/** What a run is predicted to take, beside what it may. */
export function predictedTable(dimensions: readonly PredictedView[], width: number, style: Style): string {
  return figuresText(
    dimensions.map((each) => ({ ...each, policy: null })),
    width,
    style,
  );
}

/** What was expected of a run beside what it has used, a line for each dimension. */
export function expectedText(
  expected: readonly ExpectedView[],
  usage: Readonly<Record<string, unknown>>,
  width: number,
  style: Style,
): string {
  const right = true;
  const columns = [
    { title: "dimension" },
    { title: "used", right },
    { title: "median", right },
    { title: "95 %", right },
    { title: "source" },
  ] as const;
  const rows = expected.map(({ dimension, median, upper, source }) => {
    const used = Number(usage[dimension] ?? 0);
    const text = bare(runFigure(dimension, used));
    const shown = used > upper ? style.warn(text) : text;
    return [harmless(dimension), shown, figure(dimension, median), figure(dimension, upper), source];
  });
  return tableText(columns, rows, width, style);
}
