import type { BurnDown, RunView } from "bursar/views";
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useResource } from "../../api/resource.js";
import { formatAmount, percentOf } from "../../format/amount.js";
import { inOrder, labelOf } from "../../format/dimension.js";
import { mendLocale } from "../../format/locale.js";
import { formatAgo, formatDuration, formatInstant } from "../../format/time.js";
import { DataTable } from "../../parts/data-table.js";
import { useNow } from "../../parts/now.js";
import { Empty, Loading, Ready } from "../../parts/states.js";
import type { UsageChartProps } from "./usage-chart.js";

/** One chart for each dimension of the run's own budget: what is left, over time. */
export function Charts({ run }: { readonly run: RunView }): JSX.Element {
  const resource = useResource<{ items: readonly BurnDown[] }>(
    `runs/${encodeURIComponent(run.id)}/burndown`,
    (change) => change?.runs.includes(run.id) ?? true,
  );
  const Chart = useChart();
  return (
    <section aria-labelledby="charts">
      <h2 id="charts">Burn-down</h2>
      <p class="legend">What is left over time. Dotted: where it warns. Dashed: where it leads at the rate so far.</p>
      <Ready resource={resource} what="the charts">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing is limited, so nothing runs out." />
          ) : (
            <Figures views={inOrder(items, ({ dimension }) => dimension)} run={run} Chart={Chart} />
          )
        }
      </Ready>
    </section>
  );
}

/** The code that draws is loaded when the first chart is wanted, so that the other pages need not wait for it. */
function useChart(): Drawing {
  const [drawing, setDrawing] = useState<Drawing>("loading");
  useEffect(() => {
    mendLocale(navigator);
    import("./usage-chart.js").then(
      ({ UsageChart }) => setDrawing(() => UsageChart),
      () => setDrawing("missing"),
    );
  }, []);
  return drawing;
}

type Drawing = ComponentType<UsageChartProps> | "loading" | "missing";

interface FiguresProps {
  readonly views: readonly BurnDown[];
  readonly run: RunView;
  readonly Chart: Drawing;
}

/** What has not been touched is there too, but does not take the place of what matters. */
function Figures({ views, run, Chart }: FiguresProps): JSX.Element {
  const isTouched = ({ used, held }: BurnDown) => used > 0 || held > 0;
  const untouched = views.filter((view) => !isTouched(view));
  const draw = (view: BurnDown) => <Figure key={view.dimension} view={view} run={run} Chart={Chart} />;
  return (
    <>
      <div class="charts">{views.filter(isTouched).map(draw)}</div>
      {untouched.length > 0 && (
        <details>
          <summary>
            Nothing used {run.ended === null && "yet "}of{" "}
            {untouched.map(({ dimension }) => labelOf(dimension).toLowerCase()).join(", ")}
          </summary>
          <div class="charts">{untouched.map(draw)}</div>
        </details>
      )}
    </>
  );
}

interface FigureProps {
  readonly view: BurnDown;
  readonly run: RunView;
  readonly Chart: Drawing;
}

function Figure({ view, run, Chart }: FigureProps): JSX.Element {
  const now = useNow();
  const { dimension, used, held, limit, exhausted_at, thresholds } = view;
  const amount = (value: number) => formatAmount(dimension, value);
  const until = run.ended ?? stillSince(run) ?? now;
  const exhausts = exhausted_at !== null && used < limit;
  const summary = `${amount(Math.max(0, limit - used))} of ${amount(limit)} left (${percentOf(used, limit)} % used)`;
  return (
    <figure class="chart">
      <figcaption>
        <strong>{labelOf(dimension)}</strong>
        <span>
          {summary}
          {held > 0 && <>, {amount(held)} of it held</>}
        </span>
        <span class={exhausts ? "projection" : "note"}>
          {used >= limit && "Exhausted."}
          {exhausts && (
            <span title={formatInstant(exhausted_at)}>At this rate exhausted {formatAgo(exhausted_at, now)}.</span>
          )}
          {!exhausts && used < limit && outlook(run)}
          {thresholds.length > 0 && <span class="note"> Warns at {thresholds.join(" and ")} %.</span>}
        </span>
      </figcaption>
      {Chart === "loading" && <Loading what="the chart" />}
      {Chart === "missing" && <p class="note">The chart cannot be drawn here; its figures are below.</p>}
      {typeof Chart !== "string" && (
        <Chart
          view={view}
          begin={run.created}
          until={until}
          label={`${labelOf(dimension)} left over time: ${summary}`}
        />
      )}
      <details>
        <summary>Figures of {labelOf(dimension).toLowerCase()}</summary>
        <Points view={view} begin={run.created} />
      </details>
    </figure>
  );
}

/** A run that stands still, or that nobody drives, uses nothing up, however long that takes. */
function stillSince({ status, pause, interrupted, worker }: RunView): number | undefined {
  if (status === "paused") return pause?.at;
  return interrupted ? worker?.expires : undefined;
}

function outlook({ status, interrupted }: RunView): string {
  if (status === "paused") return "It stands still.";
  if (interrupted) return "Nobody drives it.";
  return status === "running" ? "No end in sight at this rate." : "";
}

const MOST_ROWS = 40;

/** The same as the chart, for whoever cannot see it: the last changes. */
function Points({ view, begin }: { readonly view: BurnDown; readonly begin: number }): JSX.Element {
  const { dimension, points } = view;
  return (
    <DataTable
      class="amounts"
      caption={`${labelOf(dimension)}: the last changes`}
      captionClass="unseen"
      rows={points.slice(-MOST_ROWS)}
      keyOf={(_, index) => index}
      columns={[
        { title: "After", cell: ({ at }) => formatDuration(Math.max(0, at - begin)) },
        { title: "Used", isNumber: true, cell: ({ used }) => formatAmount(dimension, used) },
        { title: "Limit", isNumber: true, cell: ({ limit }) => formatAmount(dimension, limit) },
      ]}
    />
  );
}
