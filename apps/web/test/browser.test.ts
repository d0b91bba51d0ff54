import { afterEach, expect, test, vi } from "vitest";
import { openBrowser } from "./browser.js";

afterEach(() => vi.unstubAllEnvs());

test("a Chromium that is named but not there is told, and not replaced by another", async () => {
  vi.stubEnv("BURSAR_CHROMIUM", "/nowhere/chromium");

  await expect(openBrowser()).rejects.toThrow("BURSAR_CHROMIUM is /nowhere/chromium, which cannot be executed");
});
