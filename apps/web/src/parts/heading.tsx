import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { nameTab } from "./tab-title.js";

interface HeadingProps {
  readonly title: string;
  /** What the tab shows when that is not the title. */
  readonly tab?: string;
  readonly children?: ComponentChildren;
}

/** The heading of a page; it takes the focus when the page is opened, so that a screen reader says where one is. */
export function Heading({ title, tab = title, children }: HeadingProps): JSX.Element {
  useEffect(() => nameTab(tab), [tab]);
  return (
    <div class="heading">
      <h1 id="title" tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  );
}
