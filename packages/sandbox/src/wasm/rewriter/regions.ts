import { EDGE, type Graph, NONE } from "./graph.js";

/** Which parts of the code count in a local variable instead of the global one. */
export interface Regions {
  /** The region of each node. */
  readonly ofNode: Int32Array;
  /** The region of each loop: the outermost loop around it in which nothing is called. */
  readonly ofLoop: Int32Array;
}

/**
 * A loop that calls nothing can count in a register: nobody else looks at the fuel meanwhile. The sum is put into the global
 * when the region is left. Loops of a module are numbered from outside to inside.
 */
export function findRegions(graph: Graph, isOn: boolean): Regions {
  const ofLoop = new Int32Array(graph.loops).fill(NONE);
  for (let loop = 0; isOn && loop < graph.loops; loop += 1) {
    if (graph.loopHasCall.get(loop) === 1) continue;
    const parent = graph.loopParent.get(loop);
    const around = parent === NONE ? NONE : (ofLoop[parent] as number);
    ofLoop[loop] = around === NONE ? loop : around;
  }
  const ofNode = new Int32Array(graph.nodes).fill(NONE);
  for (let node = 0; node < graph.nodes; node += 1) {
    const loop = graph.loop.get(node);
    if (loop !== NONE) ofNode[node] = ofLoop[loop] as number;
  }
  // Where no code can stand, nothing can be moved between counters, so a branch with a way out of the region stands outside.
  for (let edge = 0; edge < graph.edges; edge += 1) {
    if (graph.kind.get(edge) !== EDGE.forced) continue;
    const from = graph.from.get(edge);
    if (ofNode[from] !== ofNode[graph.to.get(edge)]) ofNode[from] = NONE;
  }
  return { ofNode, ofLoop };
}
