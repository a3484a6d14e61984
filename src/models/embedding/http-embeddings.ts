import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import { isObject } from '../../base/json/json.ts';
import { createProviderError } from '../provider-error.ts';
import type { EmbedTexts } from './embedding-call.ts';

/** Asks an embedding model of the AI SDK. */
export function askEmbeddingModel(
  model: EmbeddingModelV4,
  { provider, dimensions }: { readonly provider: string; readonly dimensions: number | undefined },
): EmbedTexts {
  return async (texts, signal) => {
    const { embeddings, usage, warnings, response } = await model.doEmbed({
      values: [...texts],
      ...(dimensions !== undefined && { dimensions }),
      ...(signal && { abortSignal: signal }),
    });
    const vectors = inOrder(embeddings, response?.body, provider);
    return { vectors, tokens: usage?.tokens, warnings };
  };
}

/** The vectors in the order of the texts, which OpenAI's form names by `index` and packages do not read. Throws PROVIDER_FAILED. */
function inOrder(vectors: number[][], body: unknown, provider: string): number[][] {
  const data = isObject(body) && Array.isArray(body['data']) ? body['data'] : [];
  const places = data.map((item: unknown) => (isObject(item) ? item['index'] : undefined));
  if (places.length !== vectors.length || places.every((place) => place === undefined)) return vectors;
  const ordered: number[][] = [];
  for (const [position, place] of places.entries()) {
    const vector = vectors[position];
    const isPlace = Number.isInteger(place) && Number(place) >= 0 && Number(place) < vectors.length;
    if (vector === undefined || !isPlace || ordered[Number(place)] !== undefined) {
      const message = 'its answer does not tell which text each embedding belongs to';
      throw createProviderError(provider, { message, retryable: false });
    }
    ordered[Number(place)] = vector;
  }
  return ordered;
}
