import type { BursarOptions } from "bursar";

type Printed = NonNullable<BursarOptions["printed"]>;

/** Brings what programs write from where runs are driven to whoever shows it, who comes later. */
export class Printing {
  private hearer: Printed = () => {};

  readonly printed: Printed = (run, output) => this.hearer(run, output);

  hear(hearer: Printed): void {
    this.hearer = hearer;
  }
}
