import { type Bursar, type SampledDefect, Worker } from "bursar";
import type { Configuration } from "bursar/config";
import type { Gateway, Served } from "bursar/gateway";
import { openServer, type Server, type ServerOptions } from "bursar/server";
import { Feed } from "bursar/views";
import { asUsage } from "../app/as-usage.js";
import type { Environment } from "../app/environment.js";
import { type Equipment, type EquipmentOptions, equip } from "../app/equipment/equipment.js";
import { type GatewayPlan, gatewayOptions } from "../app/equipment/gateway-options.js";
import { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import { notListening } from "../app/listening.js";
import { bursarAt } from "../app/runs/open-bursar.js";
import { makePlace, type Place } from "../app/store/opened-store.js";
import { openSweeping, type Sweeping } from "../app/store/sweeping.js";
import { ToldFaults } from "../app/told-faults.js";
import { version } from "../app/version.js";
import type { McpSettings } from "../mcp/options.js";
import { configView } from "./config-view.js";
import { Endings } from "./endings.js";
import { type MountedMcp, mountMcp } from "./mount-mcp.js";
import { pageFolder } from "./page-folder.js";
import { shownSandbox } from "./shown-sandbox.js";
import { estimatingFrom, startingFrom } from "./starting.js";

export interface ServingOptions {
  readonly env: Environment;
  readonly config: Configuration;
  /** The URL of the store; undefined for the user's own. */
  readonly store: string | undefined;
  /** Whether programs, tools and model are those of the demonstration. */
  readonly isDemo: boolean;
  readonly equipment: EquipmentOptions;
  /** Null where there is no provider to send requests to. */
  readonly gateway: GatewayPlan | null;
  readonly listening: ListeningOptions;
  /** The command line that does something with a request or a run. */
  readonly commandLine: NonNullable<McpSettings["commandLine"]>;
  /** How many runs are driven here at the same time; 0 leaves them to others. */
  readonly most: number;
  readonly onError: (error: unknown) => void;
  /** Called where a budget differs from its chain. */
  readonly onDefect: (defect: SampledDefect) => void;
}

export interface ListeningOptions
  extends Pick<ServerOptions, "host" | "url" | "tls" | "requireLogin" | "connections" | "connections_per_address"> {
  readonly port: number;
  /** Whether any other port does where this one is taken. */
  readonly mayTakeAnyPort: boolean;
}

/** Everything that one process serves. */
export interface Serving extends AsyncDisposable {
  readonly url: string;
  readonly hasGateway: boolean;
  /** Whether everybody has to show a token. */
  readonly demanding: boolean;
  /** The run that waits for somebody, where one was wanted. */
  demo(): Promise<string | null>;
  /** Takes no more requests, waits for those under way and for the calls that its runs are making, and lets go of the runs. */
  close(within_ms: number): Promise<void>;
}

export async function openServing(options: ServingOptions): Promise<Serving> {
  const endings = new Endings();
  try {
    return await open(options, endings);
  } catch (error) {
    await endings[Symbol.asyncDispose]();
    throw error;
  }
}

async function open(options: ServingOptions, endings: Endings): Promise<Serving> {
  const { env, config, most, onError } = options;
  const sandbox = endings.add(new LazySandbox(env));
  const demonstration = options.isDemo ? await import("./demo-world.js") : null;
  const world = demonstration === null ? null : endings.add(await demonstration.openDemoWorld(sandbox.open));
  const given = await equip(options.equipment, config, sandbox);
  const equipment: Equipment =
    world === null ? given : { ...given, programs: [world.program], tools: world.tools, model: world.model };
  const place = endings.add(await makePlace(config, options.store, env));
  const feed = endings.add(new Feed({ store: place.store, failed: onError }));
  const url = options.store ?? env.BURSAR_STORE;
  const sweeping = endings.add(await openSweeping(place.store, url, options.onDefect));
  const bursar = await bursarAt({ ...place, store: feed.store }, equipment, { env });
  const faults = new ToldFaults();
  const failed = (error: unknown, run: string | null) => {
    if (faults.line(error, run) !== null) onError(error);
  };
  const worker = endings.add(new Worker({ bursar, most: Math.max(1, most), failed }));
  if (most > 0) worker.start();
  const { server, gateway, mcp } = await listen({ options, place, equipment, bursar, feed, sweeping }, endings);
  return {
    url: server.url,
    hasGateway: gateway !== null,
    demanding: server.demanding,
    demo: async () => {
      if (demonstration === null || world === null) return null;
      return (await demonstration.demoRun(bursar, world, equipment)).id;
    },
    close: async (within_ms) => {
      // Clients of MCP keep a stream open for as long as they live, which nobody should wait for.
      await Promise.all([server.close({ within_ms }), mcp[Symbol.asyncDispose](), worker.close({ within_ms })]);
      await endings[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => endings[Symbol.asyncDispose](),
  };
}

interface Parts {
  readonly options: ServingOptions;
  readonly place: Place;
  readonly equipment: Equipment;
  readonly bursar: Bursar;
  readonly feed: Feed;
  readonly sweeping: Sweeping;
}

async function listen(
  parts: Parts,
  endings: Endings,
): Promise<{ readonly server: Server; readonly gateway: Gateway | null; readonly mcp: MountedMcp }> {
  const { options, equipment, place, bursar, feed, sweeping } = parts;
  const { onError, commandLine } = options;
  let server: Server | null = null;
  const address = () => server?.url ?? "";
  const gateway = await gatewayFor(parts, address);
  if (gateway !== null) endings.add(gateway);
  const mcp = endings.add(mountMcp({ place, equipment, bursar, onError, commandLine, address }));
  const page = pageFolder();
  const { port, mayTakeAnyPort, ...where } = options.listening;
  const serverOptions: ServerOptions = {
    store: feed.store,
    bursar,
    feed,
    version: version(),
    onError,
    checks: sweeping.checks,
    ...where,
    ...(page !== null && { page }),
    mounts: { mcp: mcp.handle, ...(gateway !== null && { gateway }) },
    programs: () => equipment.programs.map(({ name, kind }) => ({ name, kind })),
    start: startingFrom(bursar, place.config, equipment),
    estimate: estimatingFrom(bursar, place.config, equipment),
    sandbox: shownSandbox(equipment.sandbox),
    config: (program) =>
      configView(place.config, program, equipment.programs.find(({ name }) => name === program)?.terms),
  };
  server = endings.add(await opened(serverOptions, port, mayTakeAnyPort));
  return { server, gateway, mcp };
}

/** The gateway, where there is a provider to send requests to. */
async function gatewayFor({ options, place, feed }: Parts, url: () => string): Promise<Gateway | null> {
  if (options.gateway === null) return null;
  const approval_url = (id: string) => `${url()}/approvals/${encodeURIComponent(id)}`;
  const { host } = options.listening;
  const { onError } = options;
  const given = await gatewayOptions(options.gateway, place.config, feed.store);
  // Its HTTP client takes long to load, and most servers have no provider.
  const { mountGateway } = await import("bursar/gateway");
  const onServed = (served: Served) => {
    if (served.failed === STOPPED) onError(new Error(cutText(served)));
  };
  return asUsage("", () =>
    mountGateway({ ...given, url, approval_url, onError, onServed, ...(host !== undefined && { host }) }),
  );
}

/** The failure of an answer that the gateway itself has cut, because it was stopped. */
const STOPPED = "gateway_stopped";

function cutText({ model, path, label, key_id, charged: { cost_usd } }: Served): string {
  const whose = label || key_id;
  const key = whose === null ? "" : ` for key ${whose}`;
  const cost = cost_usd === undefined ? "" : `, charged at most $${cost_usd}`;
  return `an answer of ${model ?? path}${key} was cut, because the gateway was stopped (${STOPPED})${cost}`;
}

async function opened(options: ServerOptions, port: number, mayTakeAnyPort: boolean): Promise<Server> {
  try {
    return await asUsage("", () => openServer({ ...options, port }));
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    if (isTaken && mayTakeAnyPort) return openServer({ ...options, port: 0 });
    throw notListening(error, options.host, port);
  }
}
