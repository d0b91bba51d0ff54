import type { BurnDown } from "bursar/views";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatAmount } from "../../format/amount.js";
import { formatDuration } from "../../format/time.js";
import { onThemeChange } from "../../parts/theme.js";
import { type Curve, curveOf } from "./curve.js";

export interface UsageChartProps {
  readonly view: BurnDown;
  /** When the run began, and up to when is drawn. */
  readonly begin: number;
  readonly until: number;
  /** What the picture says, in words. */
  readonly label: string;
}

const HEIGHT = 170;
const Y_AXIS = 62;
const X_AXIS = 28;
/** Steps of the time axis in milliseconds, such as people count in. */
const INCREMENTS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000,
];
/** Steps of an axis of bytes: powers of two, such as a limit usually is. */
const BYTES = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** What is left of one dimension over time. */
export function UsageChart({ view, begin, until, label }: UsageChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = useRef<Curve | null>(null);
  drawn.current = curveOf(view, begin, until);
  const { dimension } = view;
  const thresholds = view.thresholds.join();
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsFor(element, dimension, thresholds, drawn), dataOf(drawn.current), element);
    };
    draw();
    const stop = onThemeChange(draw);
    const sizes = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    sizes.observe(element);
    return () => {
      stop();
      sizes.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [dimension, thresholds]);
  useEffect(() => plot.current?.setData(dataOf(drawn.current)));
  return <div ref={place} class="plot" role="img" aria-label={label} />;
}

function dataOf(curve: Curve | null): uPlot.AlignedData {
  if (curve === null) return [[]];
  const { times, remaining, projected, thresholds } = curve;
  return [times, remaining, projected, ...thresholds] as unknown as uPlot.AlignedData;
}

function optionsFor(
  element: HTMLElement,
  dimension: string,
  thresholds: string,
  drawn: { readonly current: Curve | null },
): uPlot.Options {
  const colour = (name: string) => colourIn(element, name);
  // What is charged falls in steps; a clock runs on between its points.
  const stepped = dimension.endsWith("_ms") ? undefined : uPlot.paths.stepped?.({ align: 1 });
  const paths = stepped === undefined ? {} : { paths: stepped };
  const line = { stroke: colour("--line-strong"), width: 1, dash: [2, 4], points: { show: false }, ...paths };
  const axis = {
    stroke: colour("--muted"),
    font: `12px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => [0, Math.max(drawn.current?.end ?? 1, 1)] },
      y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(high ?? 1, 1e-9) * 1.06] },
    },
    axes: [
      {
        ...axis,
        size: X_AXIS,
        space: 70,
        incrs: INCREMENTS,
        values: (_, splits) => splits.map((ms) => formatDuration(ms)),
      },
      {
        ...axis,
        ...incrementsOf(dimension),
        size: Y_AXIS,
        space: 34,
        values: (_, splits) => splits.map((value) => formatAmount(dimension, value)),
      },
    ],
    series: [
      {},
      { stroke: colour("--accent"), width: 2, fill: colour("--accent-wash"), points: { show: false }, ...paths },
      { stroke: colour("--accent"), width: 2, dash: [6, 5], points: { show: false } },
      ...thresholds
        .split(",")
        .filter(Boolean)
        .map(() => line),
    ],
  };
}

/** Where people count otherwise than by tens. */
function incrementsOf(dimension: string): { incrs?: number[] } {
  if (dimension.endsWith("_ms")) return { incrs: INCREMENTS };
  return dimension.endsWith("_bytes") ? { incrs: BYTES } : {};
}

/** A colour as a canvas takes it: a custom property may name two, one for each theme, and only a real style decides. */
function colourIn(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
