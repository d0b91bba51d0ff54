import { type Body, type Graph, NONE } from "./graph.js";
import { BUCKETS, type Weights } from "./weights.js";

/**
 * How much of what has been executed when a node begins is not charged yet. Charging only the difference between two nodes' ends
 * on the edge between them keeps every sum right, whatever the figures are: on each way from the entry to a return the
 * differences add up to the cost. So the figures are free, and they are chosen such that the dearest edges, a spanning tree
 * of the largest weight, have nothing to charge.
 */
export class Potentials {
  readonly of: Float64Array;
  private readonly graph: Graph;
  /** A forest of nodes whose differences are settled, with each node's difference to its parent. */
  private readonly parent: Int32Array;
  private readonly offset: Float64Array;
  private offsetFound = 0;

  constructor(graph: Graph) {
    this.graph = graph;
    this.of = new Float64Array(graph.nodes);
    this.parent = new Int32Array(graph.nodes);
    this.offset = new Float64Array(graph.nodes);
  }

  solve(body: Body, weights: Weights): void {
    const { parent, of } = this;
    for (let node = body.firstNode; node < body.nodeEnd; node += 1) parent[node] = node;
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket -= 1) {
      for (let edge = weights.first[bucket] as number; edge !== NONE; edge = weights.next[edge] as number)
        this.join(edge, body);
    }
    const outside = this.find(body.firstNode);
    const base = this.offsetFound;
    for (let node = body.firstNode; node < body.nodeEnd; node += 1) {
      of[node] = this.find(node) === outside ? this.offsetFound - base : 0;
    }
  }

  /** What has to be charged on an edge. */
  charge(edge: number, { firstNode }: Body): number {
    const [from, to] = [this.graph.from.get(edge), this.graph.to.get(edge)];
    const before = from === firstNode ? 0 : (this.of[from] as number) + this.graph.cost.get(from);
    return before - (to === firstNode ? 0 : (this.of[to] as number));
  }

  /** Puts an edge into the tree, unless its ends are connected already. */
  private join(edge: number, { firstNode }: Body): void {
    const [from, to] = [this.graph.from.get(edge), this.graph.to.get(edge)];
    const fromRoot = this.find(from);
    const fromOffset = this.offsetFound;
    const toRoot = this.find(to);
    if (fromRoot === toRoot) return;
    this.parent[toRoot] = fromRoot;
    this.offset[toRoot] = fromOffset + (from === firstNode ? 0 : this.graph.cost.get(from)) - this.offsetFound;
  }

  /** The root of a node's tree; `offsetFound` is then the difference between the two. Paths are shortened on the way. */
  private find(node: number): number {
    const { parent, offset } = this;
    let root = node;
    let total = 0;
    while (parent[root] !== root) {
      total += offset[root] as number;
      root = parent[root] as number;
    }
    this.offsetFound = total;
    for (let each = node; each !== root; ) {
      const above = parent[each] as number;
      const step = offset[each] as number;
      parent[each] = root;
      offset[each] = total;
      total -= step;
      each = above;
    }
    return root;
  }
}
