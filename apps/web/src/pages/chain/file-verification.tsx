import type { Head } from "bursar/chain";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { FileDrop } from "./file-drop.js";
import { useVerification, type VerificationState } from "./verification.js";
import { VerifyBadge } from "./verify-badge.js";

/** Verifies a file; `head` is that of the chain on the server, to tell whether the file's end is missing. */
export function FileVerification({ head }: { readonly head: Head | null }): JSX.Element {
  const { state, verify } = useVerification();
  const [name, setName] = useState<string | null>(null);
  return (
    <>
      <FileDrop
        onFile={(file) => {
          setName(file.name);
          verify({ kind: "file", file });
        }}
      />
      {name !== null && (
        <p>
          <strong>{name}</strong> <VerifyBadge state={state} total={null} />
        </p>
      )}
      {state.kind === "done" && <Compared state={state} head={head} />}
    </>
  );
}

interface ComparedProps {
  readonly state: VerificationState & { kind: "done" };
  readonly head: Head | null;
}

function Compared({ state: { verification }, head }: ComparedProps): JSX.Element | null {
  if (!verification.ok) return null;
  const { chain, head: found } = verification;
  if (head === null || head.chain !== chain) {
    return (
      <p class="note">
        Chain {chain}, up to link {found.seq}, hash <code>{found.hash}</code>. Whether links are missing at its end only
        a head known from elsewhere can tell.
      </p>
    );
  }
  if (found.seq === head.seq && found.hash === head.hash)
    return <p class="note">It ends with the head that the server has.</p>;
  return (
    <p class="note">
      It ends at link {found.seq}; the server's chain ends at link {head.seq}.
    </p>
  );
}
