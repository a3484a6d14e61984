import type { ProviderConfig } from '../../config/config.ts';
import type { EndpointName } from '../wire/codec.ts';

/** Headers by their lower-case names. */
export type HeaderMap = Readonly<Record<string, string>>;

export interface UpstreamRequest {
  readonly endpoint: EndpointName;
  /** What the client asked with behind the path, such as `?beta=true`; empty where nothing. */
  readonly query: string;
  /** Of the client, as far as they may go on. */
  readonly headers: HeaderMap;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** An answer whose body has not been read. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: HeaderMap;
  /** Its bytes, once; to leave the loop ends the call. Throws RefusedCall (502, 504) when the upstream breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the call where the body is not read. */
  discard(): void;
}

/** Where a model's calls are answered. */
export interface Upstream {
  /** Throws RefusedCall (502, 503, 504), or the signal's reason. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Why no call can be made, such as a key that is not set; undefined where one can. Asks no API. Never rejects. */
  findFault(): Promise<string | undefined>;
  /** Ends its connections. Never rejects. */
  close(): Promise<void>;
}

/** A model that the gateway offers. */
export interface OfferedModel {
  /** As clients call it. */
  readonly name: string;
  /** As its upstream calls it. */
  readonly upstreamName: string;
  readonly provider: ProviderConfig;
  readonly endpoints: ReadonlySet<EndpointName>;
  readonly upstream: Upstream;
  /** Who is asked one after another where its own upstream is at fault; each with its own model, upstream and credential. */
  readonly fallbacks: readonly OfferedModel[];
}

/** What keeps the models of a gateway from being served. */
export interface Readiness {
  /** Whether some model has a provider that can be called, or there is none. */
  readonly isServing: boolean;
  /** Why providers cannot be called, by their ids. */
  readonly faults: ReadonlyMap<string, string>;
}

/** Looks at the providers of the models and at those that stand in for them. Never rejects. */
export async function findReadiness(models: readonly OfferedModel[]): Promise<Readiness> {
  const all = models.flatMap((model) => [model, ...model.fallbacks]);
  const upstreams = new Map(all.map(({ provider, upstream }) => [provider.id, upstream]));
  const asked = [...upstreams].map(async ([id, upstream]) => [id, await upstream.findFault()] as const);
  const faults = new Map(
    (await Promise.all(asked)).flatMap(([id, why]) => (why === undefined ? [] : [[id, why]])),
  );
  return { faults, isServing: all.length === 0 || all.some(({ provider }) => !faults.has(provider.id)) };
}

/** Who may be asked for a model at an endpoint, in turn. */
export function candidatesOf(model: OfferedModel, endpoint: EndpointName): readonly OfferedModel[] {
  if (model.fallbacks.length === 0) return [model];
  return [model, ...model.fallbacks.filter(({ endpoints }) => endpoints.has(endpoint))];
}
