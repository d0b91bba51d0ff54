import { Floats, Ints } from "./vectors.js";

/** No node, no loop, no region. */
export const NONE = -1;

/** What an edge is in the code, and so how a charge can be put on it. */
export const EDGE = {
  /** Code at the edge's position is run on this way only. */
  plain: 0,
  /** The taken way of a `br_if`, which becomes an `if` when there is something to charge. */
  brIf: 1,
  /** The way around an `if` without an `else`, which then gets one. */
  noElse: 2,
  /** From the head of a loop into it; every round goes through here, so this is where fuel is checked. */
  header: 3,
  entry: 4,
  /** No code can stand here: its two ends have to agree about what has been charged. */
  forced: 5,
  /** A `return`. */
  return: 6,
  /** Not an edge, but kept with them, because it is met in the same order: an operator that is charged by size, by a helper. */
  helper: 7,
} as const;

/**
 * The control flow of all functions of a module in flat lists. A node is a stretch of code without branches. The first node of
 * a function stands for the world outside of it, where every call begins and ends; the second is where its code begins.
 */
export class Graph {
  // Nodes.
  readonly cost: Floats;
  /** How often a node may run in one call, guessed from its nesting. */
  readonly frequency: Floats;
  /** The innermost loop around a node. */
  readonly loop: Ints;
  /** 1 for nodes that end in `unreachable`. */
  readonly cold: Ints;
  // Edges, in the order of their positions in the code.
  readonly from: Ints;
  readonly to: Ints;
  readonly kind: Ints;
  readonly weight: Floats;
  /** Where code can be put in, and from where the original goes on. */
  readonly position: Ints;
  readonly resume: Ints;
  /** The label of a `br_if`, or which helper charges. */
  readonly label: Ints;
  // Direct calls of functions that the module defines.
  readonly caller: Ints;
  readonly callee: Ints;
  // Loops.
  readonly loopParent: Ints;
  readonly loopHasCall: Ints;

  constructor(codeBytes: number) {
    // The guests have one node for about 45 bytes of code, and one edge for about 30.
    const [nodes, edges] = [codeBytes >> 5, (codeBytes >> 5) + (codeBytes >> 7)];
    [this.cost, this.frequency] = [new Floats(nodes), new Floats(nodes)];
    [this.loop, this.cold] = [new Ints(nodes), new Ints(nodes)];
    [this.from, this.to, this.kind] = [new Ints(edges), new Ints(edges), new Ints(edges)];
    [this.position, this.resume, this.label] = [new Ints(edges), new Ints(edges), new Ints(edges)];
    this.weight = new Floats(edges);
    [this.caller, this.callee] = [new Ints(nodes >> 1), new Ints(nodes >> 1)];
    [this.loopParent, this.loopHasCall] = [new Ints(nodes >> 5), new Ints(nodes >> 5)];
  }

  get nodes(): number {
    return this.cost.length;
  }

  get edges(): number {
    return this.from.length;
  }

  get loops(): number {
    return this.loopParent.length;
  }

  addNode(frequency: number, loop: number): number {
    this.cost.push(0);
    this.frequency.push(frequency);
    this.loop.push(loop);
    this.cold.push(0);
    return this.cost.length - 1;
  }

  addEdge(kind: number, from: number, to: number, weight: number, position: number, resume: number, label = 0): void {
    this.kind.push(kind);
    this.from.push(from);
    this.to.push(to);
    this.weight.push(weight);
    this.position.push(position);
    this.resume.push(resume);
    this.label.push(label);
  }

  addCall(caller: number, callee: number): void {
    this.caller.push(caller);
    this.callee.push(callee);
  }

  addLoop(parent: number): number {
    this.loopParent.push(parent);
    this.loopHasCall.push(0);
    return this.loopParent.length - 1;
  }
}

/** One function of the module: where its code and its parts of the graph are. */
export interface Body {
  /** Where the declarations of locals begin, after their number. */
  readonly localsStart: number;
  readonly localGroups: number;
  /** Parameters and declared locals; the index of the first local of ours. */
  readonly locals: number;
  readonly start: number;
  readonly end: number;
  readonly firstNode: number;
  readonly firstEdge: number;
  readonly firstCall: number;
  readonly firstLoop: number;
  readonly nodeEnd: number;
  readonly edgeEnd: number;
  readonly callEnd: number;
  readonly loopEnd: number;
  /** Calls through a table or of an import: ways by which the function can come to be called again. */
  readonly callsOut: boolean;
  readonly hasLoops: boolean;
}
