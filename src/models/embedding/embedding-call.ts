import type {
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { createModel } from '../wrapped-model.ts';
import { requireVectors } from './vectors.ts';

/** A vector for each text, in their order. */
export interface Embedded {
  readonly vectors: number[][];
  /** How many the API counts; undefined where it does not tell. */
  readonly tokens: number | undefined;
  readonly warnings?: SharedV4Warning[];
}

export type EmbedTexts = (texts: readonly string[], signal: AbortSignal | undefined) => Promise<Embedded>;

/** Where vectors stand in the metadata of an answer, and what tells a call for them from others. */
const KEY = 'embedding';

/**
 * A call for embeddings in the form of a model call, so that hooks, limits, budgets, recordings and caches hold for it as for
 * any: each text is a message of the user, as in the gateway.
 */
export function toEmbeddingCall(
  texts: readonly string[],
  signal: AbortSignal | undefined,
): LanguageModelV4CallOptions {
  return {
    prompt: texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
    // There is no answer in words.
    maxOutputTokens: 0,
    providerOptions: { [KEY]: {} },
    ...(signal && { abortSignal: signal }),
  };
}

/** The texts of such a call. Throws REPLY_MALFORMED for what hooks have made into another one. */
export function textsOf({ prompt }: LanguageModelV4CallOptions): string[] {
  return prompt.map(({ role, content }) => {
    const [part, other] = role === 'user' ? content : [];
    if (part?.type === 'text' && other === undefined) return part.text;
    throw new RuntimeError('REPLY_MALFORMED', 'what is to be embedded is no list of texts');
  });
}

/** A model that gives vectors to such calls; those that are none fail. Throws PROVIDER_FAILED. */
export function createEmbeddingModel(
  about: { readonly id: string; readonly provider: string; readonly modelId: string },
  embed: EmbedTexts,
): ReturnType<typeof createModel> {
  const { id, provider, modelId } = about;
  return createModel(
    { provider, modelId, supportedUrls: {} },
    {
      doGenerate: async (options) => {
        const texts = textsOf(options);
        const embedded = await embed(texts, options.abortSignal);
        requireVectors(embedded.vectors, { count: texts.length, provider: id });
        return toResult(embedded, modelId);
      },
      doStream: async () => {
        throw new RuntimeError('INTERNAL', 'embeddings are not streamed');
      },
    },
  );
}

export function toResult(
  { vectors, tokens, warnings = [] }: Embedded,
  modelId: string,
): LanguageModelV4GenerateResult {
  return {
    content: [],
    finishReason: { unified: 'stop', raw: undefined },
    usage: {
      inputTokens: { total: tokens, noCache: tokens, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 0, text: 0, reasoning: undefined },
    },
    warnings,
    providerMetadata: { [KEY]: { vectors } },
    response: { modelId },
  };
}

/**
 * What the answer to such a call holds. Throws DENIED where a hook has answered in the model's place, and PROVIDER_FAILED for
 * what is no vector, as in a recording that somebody has edited.
 */
export function readEmbedded(
  { content, providerMetadata, usage, warnings }: LanguageModelV4GenerateResult,
  asked: { readonly count: number; readonly provider: string },
): Embedded {
  const vectors: unknown = providerMetadata?.[KEY]?.['vectors'];
  if (content.length > 0 || vectors === undefined) {
    throw new RuntimeError('DENIED', 'a hook has answered in the place of the embedding model', {
      hint: 'Its answer is no vector. Let the hook pass calls of the provider, by `match`.',
    });
  }
  return { vectors: requireVectors(vectors, asked), tokens: usage.inputTokens.total, warnings };
}
