import type { LanguageModelV4, LanguageModelV4Middleware } from '@ai-sdk/provider';

/** The model with the middleware around it, as `wrapLanguageModel` of the AI SDK puts it there. */
export function guardModel(model: LanguageModelV4, middleware: LanguageModelV4Middleware): LanguageModelV4 {
  const { wrapGenerate, wrapStream } = middleware;
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (params) => {
      const doGenerate = () => model.doGenerate(params);
      const doStream = () => model.doStream(params);
      return (await wrapGenerate?.({ doGenerate, doStream, params, model })) ?? doGenerate();
    },
    doStream: async (params) => {
      const doGenerate = () => model.doGenerate(params);
      const doStream = () => model.doStream(params);
      return (await wrapStream?.({ doGenerate, doStream, params, model })) ?? doStream();
    },
  };
}
