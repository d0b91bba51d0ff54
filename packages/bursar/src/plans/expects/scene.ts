import type { Binding } from "../expression.js";
import { ANYTHING, type Value } from "./value.js";

/** What the names stand for at one place of a plan, nearest first. */
export class Scene {
  private readonly outer: Scene | null;
  private readonly values = new Map<Binding, Value>();

  constructor(outer: Scene | null = null) {
    this.outer = outer;
  }

  bind(binding: Binding, value: Value): void {
    this.values.set(binding, value);
  }

  find(binding: Binding): Value {
    for (let scene: Scene | null = this; scene !== null; scene = scene.outer) {
      const value = scene.values.get(binding);
      if (value !== undefined) return value;
    }
    return ANYTHING;
  }
}
