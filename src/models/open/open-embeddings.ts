import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';
import { batchTexts } from '../embedding/batching-model.ts';
import { createEmbeddingModel, type EmbedTexts } from '../embedding/embedding-call.ts';
import { askEmbeddingModel } from '../embedding/http-embeddings.ts';
import type { Peer } from '../provider-error.ts';
import type { ApiAccess } from './api-packages.ts';
import { withLimits } from './call-limits.ts';
import { unusableError } from './credential.ts';
import { openHttpModel } from './http-model.ts';
import { openMockEmbeddings } from './mock-embeddings.ts';
import { type ProviderContext, requireKind, toPeer } from './provider-context.ts';
import { readLimits } from './read-limits.ts';

/**
 * A model that embeds, with deadline and retries around it. Calls for one text each go to the API together; recordings and caches
 * stand above, and have them one by one. Throws PROVIDER_UNUSABLE.
 */
export async function openEmbeddings(
  config: ProviderConfig,
  context: ProviderContext,
): Promise<{ readonly model: LanguageModelV4; readonly peer: Peer }> {
  const { embed, peer, most, retries } = await openEmbeddingSource(config, context);
  const about = { id: config.id, provider: config.type, modelId: config.model };
  const model = createEmbeddingModel(about, embed);
  const limited = withLimits(model, readLimits(config, retries), peer, context.rate);
  return { model: batchTexts(limited, config.id, most), peer };
}

interface EmbeddingSource {
  readonly embed: EmbedTexts;
  readonly peer: Peer;
  /** How many texts one request may have. */
  readonly most: number;
  readonly retries: number;
}

async function openEmbeddingSource(
  config: ProviderConfig,
  context: ProviderContext,
): Promise<EmbeddingSource> {
  const { id, type, model } = config;
  const local = { peer: { id, secrets: [] }, most: Number.POSITIVE_INFINITY, retries: 0 };
  if (type === 'mock') return { ...local, embed: openMockEmbeddings(config) };
  if (type === 'tool') {
    const { embedByTool } = context;
    if (embedByTool === undefined)
      throw unusableError(id, 'its type is tool, and here no tool can be called');
    return { ...local, embed: (texts, signal) => embedByTool({ provider: id, tool: model, texts, signal }) };
  }
  const kind = requireKind(config);
  const { embed } = kind;
  if (embed === undefined) throw unusableError(id, `its type ${type} has no embeddings`);
  const open = async (access: ApiAccess) => await embed(config, access);
  const opened = await openHttpModel(config, kind, { ...context, open });
  const dimensions = readDimensions(config);
  return {
    embed: askEmbeddingModel(opened.model, { provider: id, dimensions }),
    peer: toPeer(opened.peer, context),
    most: (await opened.model.maxEmbeddingsPerCall) ?? Number.POSITIVE_INFINITY,
    retries: 2,
  };
}

function readDimensions({ id, additionalConfig }: ProviderConfig): number | undefined {
  const { dimensions } = additionalConfig;
  if (dimensions === undefined) return undefined;
  if (typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions > 0) return dimensions;
  throw unusableError(id, 'additional_config.dimensions must be a whole number from 1 on');
}
