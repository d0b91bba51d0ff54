import type { Language } from "./facts.js";

/** The sections that guidance points to. A test reads the pages and finds every one of them. */
export const DOCS: {
  readonly fuel: Readonly<Record<Language, string>>;
  readonly limits: Readonly<Record<Language, string>>;
  readonly troubleshooting: Readonly<Record<Language, string>>;
  readonly packages: string;
  readonly security: string;
  readonly tuples: string;
} = {
  fuel: {
    python: "docs/PYTHON_CAPABILITIES.md#fuel-budget-guidelines",
    javascript: "docs/JAVASCRIPT_CAPABILITIES.md#fuel-budget-guidelines",
  },
  limits: { python: "docs/PYTHON_CAPABILITIES.md#limits", javascript: "docs/JAVASCRIPT_CAPABILITIES.md#limits" },
  troubleshooting: {
    python: "docs/PYTHON_CAPABILITIES.md#troubleshooting",
    javascript: "docs/JAVASCRIPT_CAPABILITIES.md#troubleshooting",
  },
  packages: "docs/PYTHON_CAPABILITIES.md#using-vendored-packages",
  security: "docs/MCP_INTEGRATION.md#security-considerations",
  tuples: "docs/JAVASCRIPT_CAPABILITIES.md#quickjs-api-patterns",
};
