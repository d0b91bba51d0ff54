import { findBrowser } from "./browser.js";

/** Before any test: suites that start together would unpack the browser over each other, and start half of it. */
export async function setup(): Promise<void> {
  await findBrowser();
}
