import { Emitter } from "./emit.js";
import { type Body, EDGE } from "./graph.js";

/** Writes functions that tell the host of every edge they take, by its number. They charge nothing, and look at no fuel. */
export class RecordingEmitter extends Emitter {
  protected override emitEdge(edge: number, _index: number, body: Body): void {
    const { plan, charges } = this;
    const kind = plan.graph.kind.get(edge);
    if (kind === EDGE.forced || kind === EDGE.helper) return;
    this.copyTo(kind === EDGE.entry ? body.start : plan.graph.position.get(edge));
    this.emitOnWay(edge, kind, () => charges.refill(edge));
  }
}
