import type { Head } from "bursar/chain";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError, get } from "../../api/client.js";

/** Some of a chain, as the server gives it. */
export interface ChainLines {
  readonly lines: readonly string[];
  readonly head: Head | null;
  readonly next: number | null;
}

const PAGE_LINES = 200;
/** Pages that are kept; whoever scrolls on for long forgets where he has been. */
const MOST_PAGES = 50;

/** The lines of a chain, read a page at a time when they come into sight. */
export interface Lines {
  /** Undefined while it has not been read. */
  readonly at: (seq: number) => string | undefined;
  readonly want: (from: number, to: number) => void;
  readonly error: ApiError | null;
}

export function useLines(path: string): Lines {
  const pages = useRef(new Map<number, readonly string[]>());
  const reading = useRef(new Set<number>());
  const [, setVersion] = useState(0);
  const [error, setError] = useState<ApiError | null>(null);
  const stopping = useRef<AbortController | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    stopping.current = controller;
    return () => controller.abort();
  }, []);
  const read = useCallback(
    async (page: number, have: readonly string[]) => {
      reading.current.add(page);
      const { signal } = stopping.current ?? new AbortController();
      try {
        const lines = await readPage(path, page * PAGE_LINES, have, signal);
        keep(pages.current, page, lines);
        setError(null);
      } catch (thrown) {
        if (!signal.aborted) setError(asApiError(thrown));
      }
      reading.current.delete(page);
      if (!signal.aborted) setVersion((version) => version + 1);
    },
    [path],
  );
  const want = useCallback(
    (from: number, to: number) => {
      for (let page = Math.floor(from / PAGE_LINES); page * PAGE_LINES < to; page++) {
        const have = pages.current.get(page) ?? [];
        const wanted = Math.min(to - page * PAGE_LINES, PAGE_LINES);
        if (have.length < wanted && !reading.current.has(page)) void read(page, have);
      }
    },
    [read],
  );
  const at = useCallback((seq: number) => pages.current.get(Math.floor(seq / PAGE_LINES))?.[seq % PAGE_LINES], []);
  return { at, want, error };
}

/** The server gives fewer lines than were asked for when they are long; each answer brings at least one. */
async function readPage(
  path: string,
  start: number,
  have: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const lines = [...have];
  while (lines.length < PAGE_LINES) {
    const query = `${path}?from=${start + lines.length}&limit=${PAGE_LINES - lines.length}`;
    const answer = await get<ChainLines>(query, signal);
    lines.push(...answer.lines);
    if (answer.next === null || answer.lines.length === 0) break;
  }
  return lines;
}

function keep(pages: Map<number, readonly string[]>, page: number, lines: readonly string[]): void {
  pages.delete(page);
  pages.set(page, lines);
  for (const oldest of pages.keys()) {
    if (pages.size <= MOST_PAGES) return;
    pages.delete(oldest);
  }
}
