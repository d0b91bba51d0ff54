import { type Calls, groupsOf } from "./calls.js";
import type { Body } from "./graph.js";

/** How much looking at calls the search for a small cut may take; what is left after that is cut as a whole. */
const MOST_LOOKS = 20_000_000;

/** Of a group of functions in circles, one in so many is cut before the circles are looked for again. */
const SHARE_PER_ROUND = 32;

export interface Circles {
  /** All functions, callees before their callers, except within a circle. */
  readonly order: readonly number[];
  /** 1 for functions that can call themselves, directly or not, as far as direct calls go. */
  readonly isRecursive: Uint8Array;
  /** 1 for functions so chosen that every endless chain of calls goes through one of them again and again. */
  readonly isCut: Uint8Array;
}

/**
 * Chooses the functions that look at the fuel when they are entered, and that count the depth of calls. It is enough to do so in
 * a set that every circle of calls passes. Circles through a table or through the host are met where they leave the module's
 * direct calls; for the others a small set is sought greedily, because the smallest would take exponential time.
 */
export function findCircles(calls: Calls, bodies: readonly Body[]): Circles {
  const [isRecursive, isCut] = [new Uint8Array(calls.functions), new Uint8Array(calls.functions)];
  const order: number[] = [];
  let inCircles: number[] = [];
  groupsOf(calls, bodies.keys(), new Uint8Array(calls.functions), (group) => {
    for (const index of group) {
      order.push(index);
      if (callsItself(calls, index)) isRecursive[index] = isCut[index] = 1;
      if (group.length > 1) {
        isRecursive[index] = 1;
        inCircles.push(index);
      }
    }
  });
  for (const [index, body] of bodies.entries()) if (body.callsOut) isCut[index] = 1;
  let looks = 0;
  while (inCircles.length > 0) {
    for (const index of inCircles) looks += calls.end(index) - calls.first(index) + 1;
    inCircles = cutSome(calls, inCircles, isCut, looks < MOST_LOOKS ? SHARE_PER_ROUND : 1);
  }
  return { order, isRecursive, isCut };
}

/** Cuts a share of each group of circles, and gives the functions that were in one. */
function cutSome(calls: Calls, among: readonly number[], isCut: Uint8Array, share: number): number[] {
  const groups: (readonly number[])[] = [];
  groupsOf(calls, among, isCut, (group) => {
    if (group.length > 1) groups.push(group);
  });
  const left: number[] = [];
  for (const group of groups) {
    const scores = scoresOf(calls, group);
    const sorted = [...group].sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || a - b);
    const count = Math.max(1, Math.floor(group.length / share));
    for (const index of sorted.slice(0, count)) isCut[index] = 1;
    for (const index of sorted.slice(count)) left.push(index);
  }
  return left;
}

/** How many pairs of calls within the group meet in a function: the more, the more circles it is likely to break. */
function scoresOf(calls: Calls, group: readonly number[]): ReadonlyMap<number, number> {
  const [into, outOf] = [new Map(group.map((index) => [index, 0])), new Map(group.map((index) => [index, 0]))];
  for (const caller of group) {
    for (let call = calls.first(caller); call < calls.end(caller); call += 1) {
      const callee = calls.callee(call);
      const before = into.get(callee);
      if (before === undefined || callee === caller) continue;
      into.set(callee, before + 1);
      outOf.set(caller, (outOf.get(caller) ?? 0) + 1);
    }
  }
  return new Map(group.map((index) => [index, (into.get(index) ?? 0) * (outOf.get(index) ?? 0)]));
}

function callsItself(calls: Calls, index: number): boolean {
  for (let call = calls.first(index); call < calls.end(index); call += 1) if (calls.callee(call) === index) return true;
  return false;
}
