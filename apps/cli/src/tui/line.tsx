import { Box, Text } from "ink";
import { type Context, createContext, type ReactElement, type ReactNode, useContext } from "react";
import { type Style, styleFor } from "../render/style.js";

/** How texts are set off; it knows whether colours are wanted, which Ink does not (NO_COLOR). */
export const StyleContext: Context<Style> = createContext(styleFor(false));

export function useStyle(): Style {
  return useContext(StyleContext);
}

/** One row of the screen. A text that is too long is cut. */
export function Line({ text, indent = 0 }: { readonly text: string; readonly indent?: number }): ReactElement {
  return (
    <Box height={1} flexShrink={0} paddingLeft={indent}>
      <Text wrap="truncate-end">{text}</Text>
    </Box>
  );
}

/** A text over several rows, as other commands print it. */
export function Lines({
  texts,
  indent = 0,
}: {
  readonly texts: readonly string[];
  readonly indent?: number;
}): ReactElement {
  return (
    <>
      {texts.map((text, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands in its row, whatever that is.
        <Line key={row} text={text} indent={indent} />
      ))}
    </>
  );
}

interface CellProps {
  readonly text: string;
  /** Without a width, the cell takes what is left of its row, and this many columns at least. */
  readonly width?: number;
  readonly leastWidth?: number;
  /** Whether the cell may become narrower than its width. */
  readonly isShrinkable?: boolean;
}

/** A part of a row, with its own width and a column free behind it. */
export function Cell({ text, width, leastWidth = 0, isShrinkable = false }: CellProps): ReactElement {
  const size =
    width === undefined
      ? { flexGrow: 1, flexShrink: 0, flexBasis: 0, minWidth: leastWidth }
      : { width, flexShrink: isShrinkable ? 1 : 0, paddingRight: 1 };
  return (
    <Box {...size}>
      <Text wrap="truncate-end">{text}</Text>
    </Box>
  );
}

interface ListRowProps {
  readonly isChosen: boolean;
  readonly indent?: number;
  readonly children: ReactNode;
}

/** A row of a list, with a mark where it is the chosen one. */
export function ListRow({ isChosen, indent = 0, children }: ListRowProps): ReactElement {
  const style = useStyle();
  return (
    <Box height={1} flexShrink={0} paddingLeft={indent}>
      <Cell width={2} text={isChosen ? style.accent("❯") : ""} />
      {children}
    </Box>
  );
}

/** A rule over the whole width, with a text in it if there is one. */
export function Rule({ columns, text = "" }: { readonly columns: number; readonly text?: string }): ReactElement {
  const style = useStyle();
  if (text === "") return <Line text={style.dim("─".repeat(columns))} />;
  return (
    <Box height={1} flexShrink={0} width={columns}>
      <Box flexShrink={0}>
        <Text>{style.dim("──")} </Text>
      </Box>
      <Box paddingRight={1}>
        <Text wrap="truncate-end">{text}</Text>
      </Box>
      <Box flexGrow={1} flexBasis={0} height={1} overflow="hidden">
        <Text>{style.dim("─".repeat(columns))}</Text>
      </Box>
    </Box>
  );
}
