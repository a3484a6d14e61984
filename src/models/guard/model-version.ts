import type { LanguageModelV4Middleware } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';

/** Throws USAGE unless the model is of specification v4: others have shapes that the guard does not read. */
export function requireModelV4(model: { readonly specificationVersion: string; readonly modelId: string }) {
  const { specificationVersion: version, modelId } = model;
  if (version === 'v4') return;
  const what = `the guard guards models of specification v4 of the AI SDK; ${JSON.stringify(modelId)} is one of ${version}`;
  throw new RuntimeError('USAGE', what, {
    hint: 'Use `ai` 7, which brings models of older packages to v4 itself: npm install ai@7.',
  });
}

/** Throws as `requireModelV4`. Every `wrapLanguageModel`, also an older one, calls this before any call. */
export const requireSupportedVersion: NonNullable<LanguageModelV4Middleware['overrideSupportedUrls']> = ({
  model,
}) => {
  requireModelV4(model);
  return model.supportedUrls;
};
