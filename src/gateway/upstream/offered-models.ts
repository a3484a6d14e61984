import type { GatewayConfig, GatewayModelConfig, ProviderConfig } from '../../config/config.ts';
import { gatewayApiOf } from '../../config/provider-types.ts';
import { replaceMock } from '../../models/open/mock-replacement.ts';
import type { RateQueue } from '../../models/rate/rate-queue.ts';
import type { StreamLimits } from '../../models/rate/stream-limits.ts';
import type { HostEnv } from '../../process/env.ts';
import type { EndpointCodec, EndpointName } from '../wire/codec.ts';
import { openHttpUpstream } from './http-upstream.ts';
import { limitStreams, limitUpstream } from './limited-upstream.ts';
import { openMockUpstream } from './mock/mock-upstream.ts';
import type { OfferedModel, Upstream } from './upstream.ts';

export interface OfferContext {
  readonly env: HostEnv;
  /** The config file's folder. */
  readonly folder: string;
  readonly config: GatewayConfig;
  readonly codecs: Readonly<Record<EndpointName, EndpointCodec>>;
  readonly addSecrets: (secrets: readonly string[]) => void;
  /** What keeps calls to the limit of a provider, if it has one. */
  readonly rateOf: (provider: ProviderConfig) => RateQueue | undefined;
  readonly streamsOf: (provider: ProviderConfig) => StreamLimits | undefined;
}

/** What a gateway offers, and what it cannot. */
export interface Offer {
  readonly models: readonly OfferedModel[];
  /** Providers whose type no endpoint speaks, or which the config does not let be used. */
  readonly left: readonly { readonly provider: string; readonly why: string }[];
  /** Ends all connections. Never rejects. */
  close(): Promise<void>;
}

/** The models of the config under the names that clients ask for. Nothing is read or sent before the first call. */
export function offerModels(providers: readonly ProviderConfig[], context: OfferContext): Offer {
  const { config, env } = context;
  const upstreams = new Map<string, Upstream>();
  const usable = new Map<string, ProviderConfig>();
  const left: { readonly provider: string; readonly why: string }[] = [];
  for (const declared of providers) {
    const provider = replaceMock(declared, env);
    const why = whyLeft(provider);
    if (why !== undefined) left.push({ provider: provider.id, why });
    else {
      usable.set(provider.id, provider);
      upstreams.set(provider.id, openLimited(provider, context));
    }
  }
  const named =
    config.models ?? [...usable.values()].map(({ id, model }) => ({ name: model, provider: id, model }));
  const offerOne = ({ name, provider: id, model }: GatewayModelConfig): OfferedModel[] => {
    const provider = usable.get(id);
    const upstream = upstreams.get(id);
    if (provider === undefined || upstream === undefined) return [];
    const endpoints = endpointsOf(provider);
    return [{ ...{ name, provider, endpoints, upstream }, upstreamName: model, fallbacks: [] }];
  };
  const models = named.flatMap(offerOne).map((model): OfferedModel => {
    const own = (model.provider.fallback ?? []).flatMap((id) =>
      offerOne({ name: model.name, provider: id, model: usable.get(id)?.model ?? '' }),
    );
    return { ...model, fallbacks: config.passThrough.length > 0 ? [] : own.filter(speaksLike(model)) };
  });
  const close = async () => {
    await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
  };
  return { models, left, close };
}

function openLimited(provider: ProviderConfig, context: OfferContext): Upstream {
  const upstream = openUpstream(provider, context);
  const rate = context.rateOf(provider);
  const streams = provider.streams?.maxConcurrent === undefined ? undefined : context.streamsOf(provider);
  const waitMs = provider.requestTimeoutMs ?? context.config.limits.upstreamMs;
  const rated =
    rate === undefined
      ? upstream
      : limitUpstream(upstream, {
          ...{ provider: provider.id, rate, maxTokens: provider.defaults.maxTokens, waitMs },
        });
  return streams === undefined ? rated : limitStreams(rated, { provider: provider.id, streams, waitMs });
}

function openUpstream(
  provider: ProviderConfig,
  { env, folder, config, codecs, addSecrets }: OfferContext,
): Upstream {
  if (provider.type === 'mock') return openMockUpstream(provider, codecs);
  const passesThrough = config.passThrough.length > 0;
  return openHttpUpstream(provider, { env, folder, limits: config.limits, passesThrough, addSecrets });
}

function whyLeft(provider: ProviderConfig): string | undefined {
  if (provider.refused !== undefined) return provider.refused;
  if (endpointsOf(provider).size > 0) return undefined;
  return `its type ${provider.type} speaks none of the endpoints`;
}

/** A gateway forwards bytes: who stands in for another has to speak some endpoint of it. */
function speaksLike({ endpoints }: OfferedModel): (other: OfferedModel) => boolean {
  return (other) => !endpoints.isDisjointFrom(other.endpoints);
}

/** The endpoints that a provider speaks. */
function endpointsOf({ type, role }: ProviderConfig): ReadonlySet<EndpointName> {
  const spoken = endpointsOfType(type);
  return role === 'embedding' ? spoken.intersection(embeddingEndpoints) : spoken;
}

const embeddingEndpoints: ReadonlySet<EndpointName> = new Set(['embeddings']);

function endpointsOfType(type: string): ReadonlySet<EndpointName> {
  switch (gatewayApiOf(type)) {
    case 'OpenAI':
      return openaiEndpoints;
    case 'Anthropic':
      return anthropicEndpoints;
    case 'any':
      return allEndpoints;
    default:
      return noEndpoints;
  }
}

const openaiEndpoints: ReadonlySet<EndpointName> = new Set(['chat', 'responses', 'embeddings']);
const anthropicEndpoints: ReadonlySet<EndpointName> = new Set(['messages', 'count_tokens']);
const allEndpoints: ReadonlySet<EndpointName> = new Set([...openaiEndpoints, ...anthropicEndpoints]);
const noEndpoints: ReadonlySet<EndpointName> = new Set();
