import type { Head } from "bursar/chain";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { API } from "../../api/client.js";
import type { Change } from "../../api/feed.js";
import { useResource } from "../../api/resource.js";
import { Empty, Ready } from "../../parts/states.js";
import { FileVerification } from "./file-verification.js";
import type { ChainLines } from "./lines.js";
import { LinkDetail } from "./link-detail.js";
import { LinksTable } from "./links-table.js";
import { useVerification } from "./verification.js";
import { VerifyBadge } from "./verify-badge.js";

/** Longer chains are verified when somebody asks for it: they have to be downloaded first. */
const VERIFIED_AT_ONCE = 50_000;

interface ChainBrowserProps {
  /** Where the API has it, such as `runs/r/chain`. */
  readonly path: string;
  /** Whether a change may have made it longer. */
  readonly isTouched: (change: Change) => boolean;
}

/** A chain, link by link, and whether nobody has tampered with it. */
export function ChainBrowser({ path, isTouched }: ChainBrowserProps): JSX.Element {
  const resource = useResource<ChainLines>(`${path}?from=0&limit=1`, isTouched);
  return (
    <Ready resource={resource} what="the chain">
      {({ head, lines }) =>
        head === null || lines.length === 0 ? (
          <Empty title="The chain has no links here.">
            <p>It may have been archived to a file, which can be verified below.</p>
            <FileVerification head={head} />
          </Empty>
        ) : (
          <Browser path={path} head={head} />
        )
      }
    </Ready>
  );
}

function Browser({ path, head }: { readonly path: string; readonly head: Head }): JSX.Element {
  const [chosen, setChosen] = useState<{ seq: number; line: string } | null>(null);
  const [target, setTarget] = useState<{ seq: number } | null>(null);
  const total = head.seq + 1;
  return (
    <>
      <div class="section-head">
        <Verifying path={path} head={head} />
        <GoTo last={head.seq} onGo={(seq) => setTarget({ seq })} />
      </div>
      <div class="chain">
        <LinksTable
          path={path}
          total={total}
          selected={chosen?.seq ?? null}
          onSelect={(seq, line) => setChosen({ seq, line })}
          target={target}
        />
        <aside class="panel" aria-label="The chosen link" aria-live="polite">
          {chosen === null ? (
            <p class="note">Choose a link to see everything it says.</p>
          ) : (
            <LinkDetail line={chosen.line} onGo={(seq) => setTarget({ seq })} />
          )}
        </aside>
      </div>
      <FileVerification head={head} />
    </>
  );
}

function Verifying({ path, head }: { readonly path: string; readonly head: Head }): JSX.Element {
  const { state, verify } = useVerification();
  const address = `${API}${path}.jsonl`;
  const start = () => verify({ kind: "run", address, head });
  useEffect(() => {
    if (head.seq < VERIFIED_AT_ONCE) start();
  }, []);
  const grown = state.kind === "done" && state.verification.ok ? head.seq + 1 - state.verification.links : 0;
  return (
    <div class="verifying">
      <VerifyBadge state={state} total={head.seq + 1} />
      {grown > 0 && <span class="note">{grown} more since then</span>}
      {state.kind !== "running" && (
        <button type="button" class="button" onClick={start}>
          {state.kind === "idle" ? "Verify" : "Verify again"}
        </button>
      )}
      <a href={address} download>
        Download .jsonl
      </a>
    </div>
  );
}

function GoTo({ last, onGo }: { readonly last: number; readonly onGo: (seq: number) => void }): JSX.Element {
  const [text, setText] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    const seq = Number(text);
    if (text.trim() !== "" && Number.isInteger(seq)) onGo(Math.min(Math.max(seq, 0), last));
  };
  return (
    <form class="go-to" onSubmit={submit}>
      <label class="field">
        <span>Go to link</span>
        <input size={8} inputMode="numeric" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="button">
        Go
      </button>
      <button type="button" class="button" onClick={() => onGo(last)}>
        Last
      </button>
    </form>
  );
}
