import type { Principal } from "bursar";
import { OWNER } from "bursar/server";
import { expect, test } from "vitest";
import { clientOf } from "../src/serve/mount-mcp.js";

const AGENT: Principal = { name: "agent", role: "agent" };
const ANN: Principal = { name: "ann", role: "operator" };
const ROBOT: Principal = { name: "robot", role: "agent" };

test.each<[string, Principal, Principal]>([
  ["/mcp", OWNER, AGENT],
  ["/mcp?role=operator", OWNER, OWNER],
  ["/mcp?roles=operator", OWNER, AGENT],
  ["/mcp?role=operators", OWNER, AGENT],
  ["/mcp", ANN, ANN],
  ["/mcp?role=operator", ROBOT, ROBOT],
])("%s of %o is a client as %o", (url, principal, client) => {
  expect(clientOf(url, principal)).toEqual(client);
});
