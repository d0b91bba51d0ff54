import { type Body, EDGE, type Graph, NONE } from "./graph.js";

/** Which parts of the code count in a local variable instead of the global one. */
export interface Regions {
  /** The region of each node. */
  readonly ofNode: Int32Array;
  /** The region of each loop: the outermost loop around it in which nothing is called. */
  readonly ofLoop: Int32Array;
}

/**
 * In a function larger than this, such as the loop of an interpreter, another variable that lives long does more harm than good:
 * the engine runs short of registers, and everything in the function gets slower.
 */
const MOST_CODE_BYTES = 8192;

/**
 * A loop that calls nothing can count in a register: nobody else looks at the fuel meanwhile. The sum is put into the global
 * when the region is left. Loops of a function are numbered from outside to inside.
 */
export function findRegions(graph: Graph, bodies: readonly Body[], isOn: boolean): Regions {
  const regions = {
    ofNode: new Int32Array(graph.nodes).fill(NONE),
    ofLoop: new Int32Array(graph.loops).fill(NONE),
  };
  for (const body of bodies)
    if (isOn && body.hasLoops && body.end - body.start <= MOST_CODE_BYTES) addRegions(graph, body, regions);
  return regions;
}

function addRegions(graph: Graph, body: Body, { ofNode, ofLoop }: Regions): void {
  for (let loop = body.firstLoop; loop < body.loopEnd; loop += 1) {
    if (graph.loopHasCall.get(loop) === 1) continue;
    const parent = graph.loopParent.get(loop);
    const around = parent === NONE ? NONE : (ofLoop[parent] as number);
    ofLoop[loop] = around === NONE ? loop : around;
  }
  for (let node = body.firstNode; node < body.nodeEnd; node += 1) {
    const loop = graph.loop.get(node);
    if (loop !== NONE) ofNode[node] = ofLoop[loop] as number;
  }
  // Where no code can stand, nothing can be moved between counters, so a branch with a way out of the region stands outside.
  for (let edge = body.firstEdge; edge < body.edgeEnd; edge += 1) {
    if (graph.kind.get(edge) !== EDGE.forced) continue;
    const from = graph.from.get(edge);
    if (ofNode[from] !== ofNode[graph.to.get(edge)]) ofNode[from] = NONE;
  }
}
