import { describe, expect, test } from "vitest";
import { takeOwn } from "../../../src/models/fetch/own-headers.js";

const SENT = { authorization: "Bearer x", "Content-Type": "application/json" };
const OWN = {
  "X-Bursar-Site": "summaries",
  "x-bursar-full": "true",
  "x-bursar-tier": "large",
  "X-Bursar-Step": "a",
  "Content-Length": "12",
};

describe("What headers say to us alone", () => {
  test.each([
    ["an object", { ...SENT, ...OWN }],
    ["a list", Object.entries({ ...SENT, ...OWN })],
    ["headers", new Headers({ ...SENT, ...OWN })],
  ])("is taken out of %s", (_, given) => {
    const { siting, wish, headers } = takeOwn(given as RequestInit["headers"]);
    expect(siting).toEqual({ site: "summaries", full: true });
    expect(wish).toEqual({ pin: "large", needs: [], step: "a" });
    expect([...new Headers(headers)]).toEqual([...new Headers(SENT)]);
  });

  test.each([
    ["an object", SENT],
    ["a list", Object.entries(SENT)],
    ["headers", new Headers(SENT)],
    ["nothing", undefined],
  ])("is nothing in %s without it, of which a copy is sent", (_, given) => {
    const { siting, wish, headers } = takeOwn(given as RequestInit["headers"]);
    expect([siting, wish]).toEqual([{}, { pin: null, needs: [], step: null }]);
    expect([...new Headers(headers)]).toEqual([...new Headers(given as RequestInit["headers"])]);
    expect(headers).not.toBe(given);
  });
});
