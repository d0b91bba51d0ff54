import type { Verification } from "bursar/chain";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Report, Subject } from "./verifying.js";

export type VerificationState =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly links: number }
  | { readonly kind: "done"; readonly verification: Verification }
  | { readonly kind: "failed"; readonly message: string };

/** Verifies in a worker; a new start ends the one before. */
export function useVerification(): { state: VerificationState; verify: (subject: Subject) => void } {
  const [state, setState] = useState<VerificationState>({ kind: "idle" });
  const worker = useRef<Worker | null>(null);
  const stop = useCallback(() => {
    worker.current?.terminate();
    worker.current = null;
  }, []);
  useEffect(() => stop, [stop]);
  const verify = useCallback(
    (subject: Subject) => {
      stop();
      setState({ kind: "running", links: 0 });
      const started = new Worker(new URL("./verify-worker.ts", import.meta.url), { type: "module" });
      worker.current = started;
      started.onmessage = ({ data }: MessageEvent<Report>) => {
        if (data.kind === "progress") {
          setState({ kind: "running", links: data.links });
          return;
        }
        setState(data.kind === "verified" ? { kind: "done", verification: data.verification } : data);
        stop();
      };
      started.onerror = () => setState({ kind: "failed", message: "The code that verifies could not be loaded." });
      started.postMessage(subject);
    },
    [stop],
  );
  return { state, verify };
}
