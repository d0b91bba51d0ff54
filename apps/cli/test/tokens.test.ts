import { describe, expect, test } from "vitest";
import { inOne } from "./run.js";
import { openStage } from "./runs-stage.js";

const MISTAKEN: readonly (readonly [readonly string[], string])[] = [
  [["tokens", "create"], "--name is missing"],
  [["tokens", "create", "--name", "ann"], "--role is missing; known: viewer, agent, operator, admin"],
  [["tokens", "create", "--name", "ann", "--role", "oprator"], "did you mean operator?"],
  [["tokens", "create", "--name", "ann", "--role", "viewer", "--expires", "soon"], "--expires is soon; allowed"],
  [["tokens", "create", "--name", "a/b", "--role", "viewer"], "--name"],
  [["tokens", "create", "--name", "ann", "--role", "viewer", "--store", "memory:"], "a memory: store ends"],
  [["tokens", "revoke"], "the token to revoke is missing"],
  [["tokens", "revoke", "bursar_token_abc"], "that is the secret of a token"],
  [["tokens", "revok"], "did you mean revoke?"],
];

describe("bursar tokens", () => {
  test("are made, listed and revoked; the secret is shown once", () => {
    using stage = openStage();
    const made = stage.json("tokens", "create", "--name", "ann", "--role", "operator", "--expires", "30d");
    expect(made).toMatchObject({ status: 0, said: { ok: true, token: { name: "ann", role: "operator" } } });
    const { secret, token } = made.said as unknown as { secret: string; token: { id: string } };
    const listed = stage.run("tokens");
    expect(listed.stdout).toMatch(new RegExp(`^active +${token.id} +operator +ann {2}expires in 30 days\n$`));
    expect(JSON.stringify(stage.json("tokens").said)).not.toContain(secret);
    expect(stage.run("tokens", "create", "--name", "ann", "--role", "viewer")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("has a token already"),
    });
    expect(stage.run("tokens", "revoke", token.id.slice(0, 6)).stdout).toContain("✓ revoked");
    expect(stage.run("tokens").stdout).toMatch(/^revoked /);
    expect(stage.run("tokens", "revoke", "zzzz").stderr).toContain(
      "there is no token zzzz; `bursar tokens` lists them",
    );
  });

  const mistaken = inOne(
    MISTAKEN.map(([args]) => args),
    { BURSAR_STORE: "sqlite:/nowhere/at/all.db" },
  );

  test.each(MISTAKEN)("%j is not understood and says why", (args, message) => {
    expect(mistaken(args)).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining(message) });
  });
});
