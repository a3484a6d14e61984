import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Middleware,
} from '@ai-sdk/provider';
import { RuntimeError } from '../base/errors.ts';

export function createModel(
  { provider, modelId, supportedUrls }: Pick<LanguageModelV4, 'provider' | 'modelId' | 'supportedUrls'>,
  { doGenerate, doStream }: Pick<LanguageModelV4, 'doGenerate' | 'doStream'>,
): LanguageModelV4 {
  return { specificationVersion: 'v4', provider, modelId, supportedUrls, doGenerate, doStream };
}

/** Wraps the model like `wrapLanguageModel` of the AI SDK. */
export function wrapModel(
  model: LanguageModelV4,
  { transformParams, wrapGenerate, wrapStream }: Omit<LanguageModelV4Middleware, 'specificationVersion'>,
): LanguageModelV4 {
  const prepare = async (type: 'generate' | 'stream', options: LanguageModelV4CallOptions) => {
    const params = (await transformParams?.({ type, params: options, model })) ?? options;
    const doGenerate = () => model.doGenerate(params);
    return { doGenerate, doStream: () => model.doStream(params), params, model };
  };
  return createModel(model, {
    doGenerate: async (options) => {
      const call = await prepare('generate', options);
      return await (wrapGenerate?.(call) ?? call.doGenerate());
    },
    doStream: async (options) => {
      const call = await prepare('stream', options);
      return await (wrapStream?.(call) ?? call.doStream());
    },
  });
}

/** Throws USAGE unless the model has specification v4. The guard cannot read the shapes of others. */
export function requireModelV4(model: { readonly specificationVersion: string; readonly modelId: string }) {
  const { specificationVersion: version, modelId } = model;
  if (version === 'v4') return;
  const what = `the guard needs models of specification v4 of the AI SDK; ${JSON.stringify(modelId)} is one of ${version}`;
  throw new RuntimeError('USAGE', what, {
    hint: 'Use `ai` 7, which brings models of older packages to v4 itself: npm install ai@7.',
  });
}

/** Throws like `requireModelV4`. Every version of `wrapLanguageModel` calls this before any model call. */
export const requireSupportedVersion: NonNullable<LanguageModelV4Middleware['overrideSupportedUrls']> = ({
  model,
}) => {
  requireModelV4(model);
  return model.supportedUrls;
};

/** A declared provider. Its package and credential are loaded on the first use of its model. */
export interface Provider {
  readonly id: string;
  readonly modelName: string;
  /**
   * Always returns the same model, with the provider's defaults, request timeout and retries. Throws PROVIDER_UNUSABLE;
   * its calls throw PROVIDER_FAILED, PROVIDER_TIMEOUT, REPLAY_MISS, ABORTED.
   */
  model(): Promise<LanguageModelV4>;
}
