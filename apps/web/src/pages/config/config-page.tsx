import type { JsonObject } from "bursar/chain";
import type { JSX } from "preact";
import { useResource } from "../../api/resource.js";
import type { Config, ConfiguredLimit } from "../../api/shapes.js";
import { labelOf } from "../../format/dimension.js";
import { Amount } from "../../parts/amount.js";
import { DataTable } from "../../parts/data-table.js";
import { Heading } from "../../parts/heading.js";
import { JsonText } from "../../parts/json.js";
import { Empty, Ready } from "../../parts/states.js";

/** What a run gets by default, and where each limit comes from. */
export function ConfigPage(): JSX.Element {
  const resource = useResource<Config & JsonObject>("config", () => false);
  return (
    <>
      <Heading title="Configuration" />
      <Ready resource={resource} what="the configuration">
        {({ file, limits, ...rest }) => (
          <>
            <p>
              {typeof file === "string" ? (
                <>
                  Read from <code>{file}</code>.
                </>
              ) : (
                <>
                  No configuration file: these are the defaults. <code>bursar config init</code> writes one.
                </>
              )}
            </p>
            {Array.isArray(limits) && limits.length > 0 ? (
              <Limits limits={limits} />
            ) : (
              <Empty title="The server tells nothing about its limits." />
            )}
            {Object.keys(rest).length > 0 && (
              <details>
                <summary>Everything else</summary>
                <JsonText value={rest as JsonObject} />
              </details>
            )}
          </>
        )}
      </Ready>
    </>
  );
}

function Limits({ limits }: { readonly limits: readonly ConfiguredLimit[] }): JSX.Element {
  return (
    <DataTable
      class="amounts"
      caption="What a run gets unless it says otherwise"
      rows={limits}
      keyOf={({ dimension }) => dimension}
      columns={[
        {
          title: "Dimension",
          cell: ({ dimension }) => (
            <>
              {labelOf(dimension)}
              <span class="run-id">{dimension}</span>
            </>
          ),
        },
        {
          title: "Limit",
          isNumber: true,
          cell: ({ dimension, value }) =>
            value === null ? <span class="note">no limit</span> : <Amount dimension={dimension} value={value} />,
        },
        { title: "When exhausted", cell: ({ policy }) => policy.replaceAll("_", " ") },
        { title: "Comes from", cellClass: "origin", cell: ({ origin }) => origin },
      ]}
    />
  );
}
