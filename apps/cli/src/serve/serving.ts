import { type Bursar, Worker } from "bursar";
import { type Gateway, mountGateway, type Served } from "bursar/gateway";
import { openServer, type Server, type ServerOptions } from "bursar/server";
import { Feed } from "bursar/views";
import { checkNoGateway, gatewayOptions } from "../commands/gateway-options.js";
import { hasUpstreams } from "../commands/gateway-upstreams.js";
import { asUsage, connectionsOf, hostOf, notListening, readPort, tlsOf } from "../commands/listening.js";
import { bursarAt } from "../runs/company.js";
import { type ConfigReport, configMember, tellConfig } from "../runs/config-notice.js";
import { type Equipment, equip } from "../runs/equipment.js";
import { EQUIPMENT, type Given, textOf } from "../runs/flags.js";
import { LazySandbox } from "../runs/lazy-sandbox.js";
import { configOf, makePlace, type Place } from "../runs/place.js";
import { openSweeping, type Sweeping } from "../runs/sweeping.js";
import { ToldFaults } from "../runs/told-faults.js";
import type { Terminal } from "../terminal.js";
import { version } from "../version.js";
import { configView } from "./config-view.js";
import { demoRun, demoStore, openDemoWorld } from "./demo-world.js";
import { Endings } from "./endings.js";
import { type MountedMcp, mountMcp } from "./mount-mcp.js";
import { pageFolder } from "./page-folder.js";
import { shownSandbox } from "./shown-sandbox.js";
import { estimatingFrom, startingFrom } from "./starting.js";

export interface ServingOptions {
  readonly flags: Given;
  readonly terminal: Terminal;
  /** How many runs are driven here at the same time; 0 leaves them to others. */
  readonly most: number;
  readonly onError: (error: unknown) => void;
}

/** Everything that one process serves. */
export interface Serving extends AsyncDisposable {
  readonly url: string;
  readonly hasGateway: boolean;
  /** Whether everybody has to show a token. */
  readonly demanding: boolean;
  /** Where the runs are. */
  readonly store: string;
  readonly configuration?: ConfigReport;
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

async function open({ flags, terminal, most, onError }: ServingOptions, endings: Endings): Promise<Serving> {
  const config = configOf(flags, terminal);
  tellConfig(config, flags);
  const sandbox = endings.add(new LazySandbox(terminal.env));
  const world = flags.demo === true ? endings.add(await openDemoWorld(sandbox.open)) : null;
  const given = await equip(
    flags,
    { env: terminal.env, config, hasGateway: hasUpstreams(flags, terminal.env) },
    {},
    sandbox,
  );
  const equipment: Equipment =
    world === null ? given : { ...given, programs: [world.program], tools: world.tools, model: world.model };
  const store = textOf(flags, "store") ?? (world === null ? undefined : demoStore(terminal.env));
  const place = endings.add(await makePlace(store === undefined ? flags : { ...flags, store }, config, terminal));
  const feed = endings.add(new Feed({ store: place.store, failed: onError }));
  const sweeping = endings.add(await openSweeping(place, store === undefined ? flags : { ...flags, store }, config));
  const bursar = await bursarAt({ ...place, store: feed.store }, equipment, terminal);
  const faults = new ToldFaults();
  const failed = (error: unknown, run: string | null) => {
    if (faults.line(error, run) !== null) onError(error);
  };
  const worker = endings.add(new Worker({ bursar, most: Math.max(1, most), failed }));
  if (most > 0) worker.start();
  // Commands that are told to people name the store, also where no flag did.
  const told = store === undefined ? flags : { ...flags, store };
  const parts = { flags: told, terminal, place, equipment, bursar, feed, sweeping, onError };
  const { server, gateway, mcp } = await listen(parts, endings);
  return {
    url: server.url,
    hasGateway: gateway !== null,
    demanding: server.demanding,
    store: store ?? "",
    ...configMember(config),
    demo: async () => (world === null ? null : (await demoRun(bursar, world, equipment)).id),
    close: async (within_ms) => {
      // Clients of MCP keep a stream open for as long as they live, which nobody should wait for.
      await Promise.all([server.close({ within_ms }), mcp[Symbol.asyncDispose](), worker.close({ within_ms })]);
      await endings[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => endings[Symbol.asyncDispose](),
  };
}

interface Parts {
  readonly flags: Given;
  readonly terminal: Terminal;
  readonly place: Place;
  readonly equipment: Equipment;
  readonly bursar: Bursar;
  readonly feed: Feed;
  readonly sweeping: Sweeping;
  readonly onError: (error: unknown) => void;
}

async function listen(
  parts: Parts,
  endings: Endings,
): Promise<{ readonly server: Server; readonly gateway: Gateway | null; readonly mcp: MountedMcp }> {
  const { flags, equipment, place, bursar, feed, sweeping, onError } = parts;
  let server: Server | null = null;
  const address = () => server?.url ?? "";
  const gateway = await gatewayFor(parts, address);
  if (gateway !== null) endings.add(gateway);
  const mcp = endings.add(await mountMcp({ ...parts, address }));
  const page = pageFolder();
  const options: ServerOptions = {
    store: feed.store,
    bursar,
    feed,
    version: version(),
    onError,
    checks: sweeping.checks,
    ...whereOf(flags),
    ...connectionsOf(flags),
    ...(page !== null && { page }),
    mounts: { mcp: mcp.handle, ...(gateway !== null && { gateway }) },
    programs: () => equipment.programs.map(({ name, kind }) => ({ name, kind })),
    start: startingFrom(bursar, place.config, equipment),
    estimate: estimatingFrom(bursar, place.config, equipment),
    sandbox: shownSandbox(equipment.sandbox),
    config: (program) =>
      configView(place.config, program, equipment.programs.find(({ name }) => name === program)?.terms),
  };
  server = endings.add(await opened(options, flags));
  return { server, gateway, mcp };
}

/** The gateway, where there is a provider to send requests to. */
async function gatewayFor(
  { flags, terminal, place, feed, onError }: Parts,
  url: () => string,
): Promise<Gateway | null> {
  if (!hasUpstreams(flags, terminal.env)) {
    checkNoGateway(flags, EQUIPMENT);
    return null;
  }
  const approval_url = (id: string) => `${url()}/approvals/${encodeURIComponent(id)}`;
  const options = await gatewayOptions(flags, terminal, place.config, feed.store);
  const host = hostOf(flags);
  const onServed = (served: Served) => {
    if (served.failed === STOPPED) onError(new Error(cutText(served)));
  };
  return asUsage("", () =>
    mountGateway({ ...options, url, approval_url, onError, onServed, ...(host !== undefined && { host }) }),
  );
}

/** Of an answer that the gateway itself has cut, because it was to stop. */
const STOPPED = "gateway_stopped";

function cutText({ model, path, label, key_id, charged: { cost_usd } }: Served): string {
  const whose = label || key_id;
  const key = whose === null ? "" : ` for key ${whose}`;
  const cost = cost_usd === undefined ? "" : `, charged at most $${cost_usd}`;
  return `an answer of ${model ?? path}${key} was cut, because the gateway was stopped (${STOPPED})${cost}`;
}

function whereOf(flags: Given): Pick<ServerOptions, "host" | "url" | "tls" | "requireLogin"> {
  const [host, url] = [hostOf(flags), textOf(flags, "url")];
  const tls = tlsOf(flags);
  return {
    ...(host !== undefined && { host }),
    ...(url !== undefined && { url }),
    ...(tls !== null && { tls }),
    ...(flags.login === true && { requireLogin: true }),
  };
}

async function opened(options: ServerOptions, flags: Given): Promise<Server> {
  const named = textOf(flags, "port");
  const port = readPort(named);
  try {
    return await asUsage("", () => openServer({ ...options, port }));
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    // Whoever only wants to see it has not asked for this port.
    if (isTaken && named === undefined && flags.demo === true) return openServer({ ...options, port: 0 });
    throw notListening(error, options.host, port);
  }
}
