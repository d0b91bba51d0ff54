import { useCallback, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api/client.js";

/** Something a reader does: whether it is under way, and how it failed. */
export interface Act {
  readonly busy: boolean;
  readonly error: ApiError | null;
  readonly run: (work: () => Promise<void>) => Promise<void>;
}

/** One at a time: a second click while the first is under way does nothing. */
export function useAct(): Act {
  const [state, setState] = useState<{ busy: boolean; error: ApiError | null }>({ busy: false, error: null });
  const { busy, error } = state;
  const run = useCallback(
    async (work: () => Promise<void>) => {
      if (busy) return;
      setState({ busy: true, error: null });
      try {
        await work();
        setState({ busy: false, error: null });
      } catch (thrown) {
        setState({ busy: false, error: asApiError(thrown) });
      }
    },
    [busy],
  );
  return { busy, error, run };
}
