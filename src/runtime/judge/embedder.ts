import type { Embed } from '../../checks/check.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { RuntimeError } from '../../errors.ts';
import type { Models } from '../models.ts';

/**
 * The embedding model for checks: calls a declared provider through the guard. All texts of a call get vectors of one model.
 * Throws PROVIDER_UNUSABLE, PROVIDER_FAILED, DENIED, …
 */
export function openEmbedder({ providers }: RuntimeConfig, openModel: Models['model']): Embed {
  return async ({ provider: id = embeddingProvider(providers), texts, signal }) => {
    const { toEmbeddingCall, readEmbedded } = await import('../../provider/embedding/embedding-call.ts');
    const { model, answeredBy } = await openModel(id, 'hold', { embeds: texts });
    const result = await model.doGenerate(toEmbeddingCall(texts, signal));
    const { vectors } = readEmbedded(result, { count: texts.length, provider: id });
    const { provider = id, model: name = model.modelId } = answeredBy() ?? {};
    return { vectors, provider, model: name };
  };
}

/** The provider named `embed`, or the only one that embeds. Throws PROVIDER_UNUSABLE. */
function embeddingProvider(providers: RuntimeConfig['providers']): string {
  const all = providers.filter(({ role }) => role === 'embedding');
  const [only, other] = all;
  const chosen = all.find(({ id }) => id === 'embed') ?? (other === undefined ? only : undefined);
  if (chosen !== undefined) return chosen.id;
  const message = `${only === undefined ? 'no provider has' : 'several providers have'} the role embedding`;
  const hint =
    only === undefined
      ? 'Declare one in spec.providers, such as {id: embed, type: openai, model: text-embedding-3-small, role: embedding}.'
      : 'Name one in the params, or give one the id `embed`.';
  throw new RuntimeError('PROVIDER_UNUSABLE', `nothing can embed texts: ${message}`, { hint });
}
