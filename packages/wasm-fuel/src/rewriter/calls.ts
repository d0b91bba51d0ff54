import type { Body, Graph } from "./graph.js";

/** The direct calls between the functions that a module defines. */
export class Calls {
  readonly functions: number;
  private readonly graph: Graph;
  private readonly bodies: readonly Body[];

  constructor(graph: Graph, bodies: readonly Body[]) {
    this.graph = graph;
    this.bodies = bodies;
    this.functions = bodies.length;
  }

  first(caller: number): number {
    return (this.bodies[caller] as Body).firstCall;
  }

  end(caller: number): number {
    return (this.bodies[caller] as Body).callEnd;
  }

  callee(call: number): number {
    return this.graph.callee.get(call);
  }
}

/**
 * Finds the circles among some functions (Tarjan's algorithm, without recursion, because a module may nest calls as deep as it
 * likes). Gives the groups of functions that can all reach each other, callees before their callers.
 */
export function groupsOf(
  calls: Calls,
  among: Iterable<number>,
  isLeftOut: Uint8Array,
  visit: (group: readonly number[]) => void,
): void {
  const search = new Search(calls.functions);
  for (const root of among) {
    if (isLeftOut[root] === 1 || search.isSeen(root)) continue;
    search.open(root, calls.first(root));
    while (search.path.length > 0) {
      const caller = search.path[search.path.length - 1] as number;
      const call = search.nextCall(caller);
      if (call === calls.end(caller)) search.close(caller, visit);
      else {
        const callee = calls.callee(call);
        if (isLeftOut[callee] === 1) continue;
        if (search.isSeen(callee)) search.meet(caller, callee);
        else search.open(callee, calls.first(callee));
      }
    }
  }
}

class Search {
  /** The functions on the way from the root to the present one. */
  readonly path: number[] = [];
  private readonly number: Int32Array;
  private readonly lowest: Int32Array;
  private readonly next: Int32Array;
  private readonly isWaiting: Uint8Array;
  private readonly waiting: number[] = [];
  private count = 0;

  constructor(functions: number) {
    this.number = new Int32Array(functions);
    this.lowest = new Int32Array(functions);
    this.next = new Int32Array(functions);
    this.isWaiting = new Uint8Array(functions);
  }

  isSeen(index: number): boolean {
    return this.number[index] !== 0;
  }

  open(index: number, firstCall: number): void {
    this.count += 1;
    this.number[index] = this.count;
    this.lowest[index] = this.count;
    this.next[index] = firstCall;
    this.isWaiting[index] = 1;
    this.waiting.push(index);
    this.path.push(index);
  }

  nextCall(index: number): number {
    const call = this.next[index] as number;
    this.next[index] = call + 1;
    return call;
  }

  meet(caller: number, callee: number): void {
    if (this.isWaiting[callee] === 1) this.lower(caller, this.number[callee] as number);
  }

  close(index: number, visit: (group: readonly number[]) => void): void {
    this.path.pop();
    const above = this.path.at(-1);
    if (above !== undefined) this.lower(above, this.lowest[index] as number);
    if (this.lowest[index] !== this.number[index]) return;
    const group: number[] = [];
    for (let last = -1; last !== index; ) {
      last = this.waiting.pop() as number;
      this.isWaiting[last] = 0;
      group.push(last);
    }
    visit(group);
  }

  private lower(index: number, bound: number): void {
    if (bound < (this.lowest[index] as number)) this.lowest[index] = bound;
  }
}
