/** What is counted while the server runs. */
export class Metrics {
  /** By route and status; both are few. */
  private readonly requests = new Map<string, number>();

  count(method: string, route: string, status: number): void {
    const labels = labelled({ method, route, status: String(status) });
    this.requests.set(labels, (this.requests.get(labels) ?? 0) + 1);
  }

  /** All requests so far, as lines. */
  get served(): readonly Sample[] {
    return [...this.requests].map(([labels, value]) => ({ labels, value }));
  }
}

export interface Sample {
  /** As Prometheus writes them, in braces; empty for none. */
  readonly labels: string;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly Sample[];
}

export function labelled(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

/** In the text format of Prometheus. */
export function writeMetrics(families: readonly Family[]): string {
  const lines = families.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => `${name}${labels} ${value}`),
  ]);
  return `${lines.join("\n")}\n`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
