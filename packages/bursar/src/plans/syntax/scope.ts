import type { Binding } from "./expression.js";

/** The names that can be used at a place, nearest first. */
export class Scope {
  private readonly outer: Scope | null;
  private readonly names = new Map<string, Binding>();

  constructor(outer: Scope | null = null) {
    this.outer = outer;
  }

  find(name: string): Binding | null {
    return this.names.get(name) ?? this.outer?.find(name) ?? null;
  }

  /** Whether this very scope has the name, and not one around it. */
  has(name: string): boolean {
    return this.names.has(name);
  }

  /** From here on the name stands for this; what was resolved before stays as it was. */
  add(binding: Binding): void {
    this.names.set(binding.name, binding);
  }

  known(): readonly string[] {
    return [...this.names.keys(), ...(this.outer?.known() ?? [])];
  }
}
