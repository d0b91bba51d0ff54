import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { post, remove } from "../../api/client.js";
import { useMe } from "../../api/me.js";
import { useResource } from "../../api/resource.js";
import { type Key, type KeyList, mayOperate } from "../../api/shapes.js";
import { useAct } from "../../parts/act.js";
import { announce } from "../../parts/announcer.js";
import { Heading } from "../../parts/heading.js";
import { Secret } from "../../parts/secret.js";
import { Empty, Problem, Ready } from "../../parts/states.js";
import { KeyForm, type NewKey } from "./key-form.js";
import { KeysTable } from "./keys-table.js";

/** The keys with which programs reach models through the gateway, each paid for by a budget. */
export function KeysPage(): JSX.Element {
  const me = useMe();
  const resource = useResource<KeyList>("keys");
  const [made, setMade] = useState<NewKey | null>(null);
  const { busy, error, run } = useAct();
  const show = (next: NewKey) => {
    setMade(next);
    resource.reload();
  };
  const rotate = (key: Key) => run(async () => show(await post<NewKey>(`keys/${encodeURIComponent(key.id)}/rotate`)));
  const revoke = (key: Key) =>
    run(async () => {
      await remove(`keys/${encodeURIComponent(key.id)}`);
      announce("The key is revoked");
      resource.reload();
    });
  return (
    <>
      <Heading title="Gateway keys" />
      {resource.value !== null && <Purpose hasGateway={resource.value.gateway} />}
      {mayOperate(me) && <KeyForm onMade={show} />}
      {error !== null && <Problem error={error} />}
      <Ready resource={resource} what="the keys">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There are no keys yet." />
          ) : (
            <KeysTable keys={items} busy={busy || !mayOperate(me)} onRotate={rotate} onRevoke={revoke} />
          )
        }
      </Ready>
      {made !== null && (
        <Secret
          title={`Secret of ${made.key.label || made.key.id}`}
          secret={made.secret}
          onClose={() => setMade(null)}
        />
      )}
    </>
  );
}

/** What keys are for; where no gateway takes them, how one is mounted. */
function Purpose({ hasGateway }: { readonly hasGateway: boolean }): JSX.Element {
  if (hasGateway) {
    return (
      <p class="note">
        Give one to any program that speaks to OpenAI or Anthropic, with this server's address and <code>/v1</code>:
        what it uses is paid for by the key's budget.
      </p>
    );
  }
  return (
    <p class="note">
      No gateway is mounted here, so this server takes no key yet. Start it with <code>OPENAI_API_KEY</code> or{" "}
      <code>ANTHROPIC_API_KEY</code> set, or with <code>bursar serve --upstream openai=https://api.openai.com/v1</code>:
      then programs reach the provider at this server's address and <code>/v1</code> with a key, whose budget pays.
    </p>
  );
}
