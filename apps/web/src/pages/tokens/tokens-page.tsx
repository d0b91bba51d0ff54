import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { remove } from "../../api/client.js";
import { useResource } from "../../api/resource.js";
import type { TokenView } from "../../api/shapes.js";
import { useAct } from "../../parts/act.js";
import { announce } from "../../parts/announcer.js";
import { ConfirmButton } from "../../parts/confirm-button.js";
import { DataTable } from "../../parts/data-table.js";
import { Heading } from "../../parts/heading.js";
import { Instant } from "../../parts/instant.js";
import { Secret } from "../../parts/secret.js";
import { Empty, Problem, Ready } from "../../parts/states.js";
import { Status } from "../../parts/status.js";
import { type NewToken, TokenForm } from "./token-form.js";

/** Who may use this server, and as what. */
export function TokensPage(): JSX.Element {
  const resource = useResource<{ items: readonly TokenView[] }>("tokens");
  const [made, setMade] = useState<NewToken | null>(null);
  const { busy, error, run } = useAct();
  const revoke = ({ id, name }: TokenView) =>
    run(async () => {
      await remove(`tokens/${encodeURIComponent(id)}`);
      announce(`The access token of ${name} is revoked`);
      resource.reload();
    });
  return (
    <>
      <Heading title="Access tokens" />
      <TokenForm
        onMade={(next) => {
          setMade(next);
          resource.reload();
        }}
      />
      {error !== null && <Problem error={error} />}
      <Ready resource={resource} what="the access tokens">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There are no access tokens.">
              <p>On this machine nobody needs one; whoever reaches the server from elsewhere does.</p>
            </Empty>
          ) : (
            <TokensTable tokens={items} busy={busy} onRevoke={revoke} />
          )
        }
      </Ready>
      {made !== null && (
        <Secret title={`Access token of ${made.token.name}`} secret={made.secret} onClose={() => setMade(null)} />
      )}
    </>
  );
}

interface TokensTableProps {
  readonly tokens: readonly TokenView[];
  readonly busy: boolean;
  readonly onRevoke: (token: TokenView) => void;
}

function TokensTable({ tokens, busy, onRevoke }: TokensTableProps): JSX.Element {
  return (
    <DataTable
      caption="Access tokens, oldest first"
      captionClass="unseen"
      rows={tokens}
      keyOf={({ id }) => id}
      columns={[
        {
          title: "Name",
          cell: ({ name, id }) => (
            <>
              {name}
              <span class="run-id">{id}</span>
            </>
          ),
        },
        { title: "Role", cell: ({ role }) => role },
        { title: "Status", cell: ({ status }) => <Status status={status} /> },
        {
          title: "Expires",
          isWideOnly: true,
          cell: ({ expires }) => (expires === null ? "never" : <Instant at={expires} />),
        },
        {
          title: "Actions",
          isTitleHidden: true,
          cellClass: "number",
          cell: (token) =>
            token.status === "active" && (
              <ConfirmButton
                label="Revoke"
                about={`access token of ${token.name}`}
                question="Whoever is logged in with it is logged out. This cannot be undone."
                disabled={busy}
                onConfirm={() => onRevoke(token)}
              />
            ),
        },
      ]}
    />
  );
}
