import type { JSX } from "preact";
import { Heading } from "../../parts/heading.js";
import { FileVerification } from "./file-verification.js";

export function VerifyPage(): JSX.Element {
  return (
    <>
      <Heading title="Verify a chain" />
      <p>
        Every run leaves a chain in which each link holds the hash of the one before. A link that was changed, dropped,
        inserted or moved is found here, with the code that <code>bursar verify</code> uses.
      </p>
      <FileVerification head={null} />
    </>
  );
}
