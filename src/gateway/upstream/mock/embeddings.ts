import { isObject } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/try-parse.ts';
import type { ProviderConfig } from '../../../config/config.ts';
import { openMockEmbeddings } from '../../../models/open/mock-embeddings.ts';

/** `POST /v1/embeddings`: for each text the vector of the script, or one that is the same for the same text. Throws PROVIDER_FAILED. */
export async function embed(body: string, provider: ProviderConfig, signal: AbortSignal): Promise<unknown> {
  const request = tryParse(body);
  const { input, encoding_format: format } = isObject(request) ? request : {};
  const texts = (Array.isArray(input) ? input : [input]).map(String);
  // A mock that answers has a script for that, and none for embeddings.
  const script = provider.role === 'embedding' ? provider : { ...provider, additionalConfig: {} };
  const { vectors, tokens } = await openMockEmbeddings(script)(texts, signal);
  const data = vectors.map((vector, index) => {
    const embedding =
      format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
    return { object: 'embedding', index, embedding };
  });
  return {
    object: 'list',
    data,
    model: provider.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}
