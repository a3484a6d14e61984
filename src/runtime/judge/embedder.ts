import type { Embed } from '../../builtins/checks/check.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { askedProvider } from '../../config/provider-use.ts';
import type { Models } from '../models.ts';

/**
 * The embedding model for checks: calls a declared provider through the guard. All texts of a call get vectors of one model.
 * Throws PROVIDER_UNUSABLE, PROVIDER_FAILED, DENIED, …
 */
export function openEmbedder({ providers }: RuntimeConfig, openModel: Models['model']): Embed {
  return async ({ provider: id = askedProvider('embedding', providers), texts, signal }) => {
    const { toEmbeddingCall, readEmbedded } = await import('../../models/embedding/embedding-call.ts');
    const { model, answeredBy } = await openModel(id, 'hold', { embeds: texts });
    const result = await model.doGenerate(toEmbeddingCall(texts, signal));
    const { vectors } = readEmbedded(result, { count: texts.length, provider: id });
    const { provider = id, model: name = model.modelId } = answeredBy() ?? {};
    return { vectors, provider, model: name };
  };
}
