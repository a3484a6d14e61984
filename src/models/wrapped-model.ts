import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Middleware,
} from '@ai-sdk/provider';

/** A model of these two ways of being called, under the name of `about`. */
export function createModel(
  { provider, modelId, supportedUrls }: Pick<LanguageModelV4, 'provider' | 'modelId' | 'supportedUrls'>,
  { doGenerate, doStream }: Pick<LanguageModelV4, 'doGenerate' | 'doStream'>,
): LanguageModelV4 {
  return { specificationVersion: 'v4', provider, modelId, supportedUrls, doGenerate, doStream };
}

/** The model with the middleware around it, as `wrapLanguageModel` of the AI SDK puts it there. */
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
