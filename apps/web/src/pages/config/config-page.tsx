import type { JsonObject } from "bursar/chain";
import type { JSX } from "preact";
import { useResource } from "../../api/resource.js";
import type { Config, ConfiguredLimit } from "../../api/shapes.js";
import { labelOf } from "../../format/dimension.js";
import { Amount } from "../../parts/amount.js";
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
    <table class="amounts">
      <caption>What a run gets unless it says otherwise</caption>
      <thead>
        <tr>
          <th scope="col">Dimension</th>
          <th scope="col" class="number">
            Limit
          </th>
          <th scope="col">When exhausted</th>
          <th scope="col">Comes from</th>
        </tr>
      </thead>
      <tbody>
        {limits.map(({ dimension, value, policy, origin }) => (
          <tr key={dimension}>
            <th scope="row">
              {labelOf(dimension)}
              <span class="run-id">{dimension}</span>
            </th>
            <td class="number">
              {value === null ? <span class="note">no limit</span> : <Amount dimension={dimension} value={value} />}
            </td>
            <td>{policy.replaceAll("_", " ")}</td>
            <td class="origin">{origin}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
