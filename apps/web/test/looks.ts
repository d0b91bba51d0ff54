import { readFileSync } from "node:fs";

/** What is looked for in a page, to be run there. */
export const CHECKS: string = readFileSync(new URL("in-page.js", import.meta.url), "utf8");

const DESKTOP = { viewport: { width: 1280, height: 900 } } as const;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

/** How a page has to be fit to be looked at. */
export const LOOKS = [
  ["light, on a desktop", { ...DESKTOP, colorScheme: "light" }],
  ["dark, on a desktop", { ...DESKTOP, colorScheme: "dark" }],
  ["light, on a phone", { ...PHONE, colorScheme: "light" }],
  ["dark, on a phone", { ...PHONE, colorScheme: "dark" }],
] as const;
