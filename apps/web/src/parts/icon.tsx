import type { JSX } from "preact";

const PATHS = {
  running: "M5 3.5v9l7-4.5z",
  queued: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zm0 2.5V8l2.5 1.5",
  paused: "M5 3v10M11 3v10",
  completed: "M3 8.5 6.5 12 13 4.5",
  failed: "M4 4l8 8M12 4l-8 8",
  cancelled: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM4 12l8-8",
  waiting: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v4m0 1.8v.4",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a3 3 0 0 1 4.4 4.4L11 9M9 11.5l-1.2 1.2a3 3 0 0 1-4.4-4.4L5 7",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a word; the word says the same, so nobody has to see it. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
