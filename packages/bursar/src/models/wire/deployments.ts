import { InputError, show } from "../../core/errors.js";
import { segmentsOf } from "./path-segments.js";
import { isHomeHost, withoutFinalDot } from "./provider-hosts.js";

/**
 * Which model each deployment runs, by the name of the deployment. A name that stands for different models at two hosts is written with
 * its host: `acme-eu.openai.azure.com/chat`.
 */
export type ModelDeployments = Readonly<Record<string, string>>;

/** The model that a request is priced and bounded by. */
export interface RunModel {
  readonly model: string;
  /** The deployment that runs it; null where the request names a model. */
  readonly deployment: string | null;
}

const LONGEST_NAME = 512;
const LONGEST_KEY = 1024;
/** The segment of a path that is followed by the name of what the server runs, whatever the body says. */
const BEFORE_NAME: ReadonlySet<string> = new Set(["deployments", "engines"]);
/** Hosts at which the model of a body is the name of a deployment. */
const AZURE = /(?:^|\.)(?:(?:openai|services\.ai|cognitiveservices)\.azure\.(?:com|us|cn)|azure-api\.(?:net|us|cn))$/;
const CLOUDFLARE = "gateway.ai.cloudflare.com";
const CLOUDFLARE_AZURE = "azure-openai";

/** Deployments as they were stated, found by name. Azure does not mind the case of a name. */
export class Deployments {
  private readonly models: ReadonlyMap<string, string>;

  constructor(stated: ModelDeployments = {}) {
    this.models = modelsIn(stated);
  }

  /** The model that a request runs: the one that its body names, unless its path or its host make that a deployment. */
  modelFor(url: URL | string | null, named: string | null): RunModel | null {
    const address = typeof url === "string" ? addressIn(url) : url;
    const host = address === null ? "" : withoutFinalDot(address.host);
    const inPath = address === null ? null : deploymentIn(address);
    const name = inPath ?? named;
    if (name === null) return null;
    const isDeployment = inPath !== null || (address !== null && AZURE.test(withoutFinalDot(address.hostname)));
    // The makers' own hosts know models alone.
    const mapped = !isDeployment && address !== null && isHomeHost(address.hostname) ? null : this.find(host, name);
    if (mapped !== null) return { model: mapped, deployment: name };
    return { model: name, deployment: isDeployment ? name : null };
  }

  /** The model that a deployment runs, where no address shows. */
  deployed(name: string): RunModel {
    return { model: this.find("", name) ?? name, deployment: name };
  }

  private find(host: string, name: string): string | null {
    if (this.models.size === 0) return null;
    const key = name.toLowerCase();
    return this.models.get(`${host}/${key}`) ?? this.models.get(key) ?? null;
  }
}

/** Nothing is stated: a deployment is the model of its name. */
export const NO_DEPLOYMENTS: Deployments = new Deployments();

/** The deployment that a path names; null where the body says which model is asked. */
function deploymentIn({ hostname, pathname }: URL): string | null {
  const segments = segmentsOf(pathname);
  // Of several, servers that take only one take the last.
  const at = segments.findLastIndex((segment) => BEFORE_NAME.has(segment.toLowerCase()));
  const named = at === -1 ? undefined : segments[at + 1];
  if (named !== undefined) return named;
  if (withoutFinalDot(hostname) !== CLOUDFLARE) return null;
  const azure = segments.findIndex((segment) => segment.toLowerCase() === CLOUDFLARE_AZURE);
  // Its path has the resource first, and then the deployment.
  return azure === -1 ? null : (segments[azure + 2] ?? null);
}

function addressIn(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null;
}

/** Checks deployments that somebody has stated. */
export function readDeployments(stated: unknown): ModelDeployments {
  modelsIn(stated);
  return stated as ModelDeployments;
}

function modelsIn(stated: unknown): ReadonlyMap<string, string> {
  if (typeof stated !== "object" || stated === null || Array.isArray(stated)) {
    throw new InputError("deployments", `is ${show(stated)}; allowed: an object with a model for each deployment`);
  }
  const models = new Map<string, string>();
  for (const [name, model] of Object.entries(stated) as [string, unknown][]) {
    if (name === "" || name.length > LONGEST_KEY) {
      throw new InputError("deployments", `has the name ${show(name)}; allowed: the name of a deployment`);
    }
    if (typeof model !== "string" || model === "" || model.length > LONGEST_NAME) {
      throw new InputError(`deployments.${name}`, `is ${show(model)}; allowed: the name of the model that it runs`);
    }
    const key = name.toLowerCase();
    if (models.has(key)) throw new InputError(`deployments.${name}`, "is stated twice; keep one");
    models.set(key, model);
  }
  return models;
}
