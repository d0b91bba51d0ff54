import type { Profile } from "../profile.js";
import { type Body, EDGE, type Graph, NONE } from "./graph.js";
import type { Regions } from "./regions.js";

/** How dear a charge is in different places, compared with one on the global counter. They were tuned on the two guests. */
const WITH_A_CHECK = 0.6;
const IN_A_REGION = 0.35;
const IN_A_REGION_WITH_A_CHECK = 0.2;
/** On the way into or out of a region there is an update anyway. */
const AT_THE_BORDER = 0.15;
const MOVED_TO_CALLERS = 1e-6;
const COLD = 0.01;

/** What an edge weighs that ran once in the training. What never ran in a function that did weighs less, as far as it was guessed. */
const RAN_ONCE = 16;
const NEVER_RAN = 2 ** -8;
const MOST_FOR_NEVER_RAN = 1;

const FORCED_BUCKET = 119;

/** Edges are sorted into buckets, two for each power of two. Bits of the number are exact everywhere; logarithms are not. */
export const BUCKETS: number = FORCED_BUCKET + 1;
const FIRST_BUCKET_BITS = 218;
const BUCKET_SHIFT = 22;

const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

function bucketOf(weight: number): number {
  float[0] = weight;
  const bucket = ((bits[0] as number) >>> BUCKET_SHIFT) - FIRST_BUCKET_BITS;
  return Math.max(0, Math.min(FORCED_BUCKET - 1, bucket));
}

/** Sorts the edges of a function by what a charge on them would cost, dearest last. */
export class Weights {
  /** The first edge of each bucket, and the next edge in the same bucket. */
  readonly first: Int32Array = new Int32Array(BUCKETS);
  readonly next: Int32Array;
  private readonly graph: Graph;
  private readonly regions: Regions;
  /** 1 when a way out of a node leads to cold code, 2 when one leads elsewhere. */
  private readonly ways: Uint8Array;
  private readonly levels: Uint8Array | null;
  /** Whether the present function ran in the training; what did not is guessed as if there had been none. */
  private isTrained = false;

  constructor(graph: Graph, regions: Regions, profile: Profile | null) {
    this.graph = graph;
    this.regions = regions;
    this.levels = profile?.levels ?? null;
    this.next = new Int32Array(graph.edges);
    this.ways = new Uint8Array(graph.nodes);
  }

  sort(body: Body, isMoved: boolean, isChecked: boolean): void {
    const { graph, first, next } = this;
    this.findWays(body);
    // The first edge of a function is its entry.
    this.isTrained = this.levelOf(body.firstEdge) > 0;
    first.fill(NONE);
    for (let edge = body.edgeEnd - 1; edge >= body.firstEdge; edge -= 1) {
      const kind = graph.kind.get(edge);
      if (kind === EDGE.helper) continue;
      const entry = isMoved ? MOVED_TO_CALLERS : isChecked ? WITH_A_CHECK : 1;
      const bucket = kind === EDGE.forced ? FORCED_BUCKET : bucketOf(this.weightOf(edge, kind, entry));
      next[edge] = first[bucket] as number;
      first[bucket] = edge;
    }
  }

  /** From the last edge to the first, so that what follows a node is known before what leads to it. */
  private findWays({ firstNode, firstEdge, edgeEnd }: Body): void {
    const { graph, ways } = this;
    for (let edge = edgeEnd - 1; edge >= firstEdge; edge -= 1) {
      const [from, to] = [graph.from.get(edge), graph.to.get(edge)];
      if (from === to) continue;
      const way = to !== firstNode && this.isCold(to) ? 1 : 2;
      ways[from] = (ways[from] as number) | way;
    }
  }

  /** Code that can only end in a trap is hardly ever run. */
  private isCold(node: number): boolean {
    return this.graph.cold.get(node) === 1 || this.ways[node] === 1;
  }

  private weightOf(edge: number, kind: number, entry: number): number {
    const { graph, regions } = this;
    const [from, to] = [graph.from.get(edge), graph.to.get(edge)];
    if (kind === EDGE.entry) return this.isTrained ? entry * this.trained(edge, 0) : entry;
    const cold = this.isCold(to) || this.isCold(from) ? COLD : 1;
    const guessed = graph.weight.get(edge) * cold;
    const weight = this.isTrained ? this.trained(edge, guessed) : guessed;
    const [here, there] = [regions.ofNode[from] as number, regions.ofNode[to] as number];
    if (here !== there) return weight * AT_THE_BORDER;
    if (here !== NONE) return weight * (kind === EDGE.header ? IN_A_REGION_WITH_A_CHECK : IN_A_REGION);
    return kind === EDGE.header ? weight * WITH_A_CHECK : weight;
  }

  private trained(edge: number, guessed: number): number {
    const level = this.levelOf(edge);
    return level > 0 ? RAN_ONCE * 2 ** (level - 1) : Math.min(NEVER_RAN * guessed, MOST_FOR_NEVER_RAN);
  }

  private levelOf(edge: number): number {
    return this.levels?.[edge] ?? 0;
  }
}
