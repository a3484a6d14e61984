import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
} from '@ai-sdk/provider';
import { LRUCache } from 'lru-cache';
import { currentCallScope, inCallScope } from '../call-scope.ts';
import { createModel } from '../wrapped-model.ts';
import { type Embedded, readEmbedded, textsOf, toEmbeddingCall, toResult } from './embedding-call.ts';

/** The vectors that the models of a runtime have given, by model and text. */
export type TextMemory = ReturnType<typeof createTextMemory>;

export function createTextMemory() {
  return {
    known: new LRUCache<string, number[]>({
      maxSize: MAX_BYTES,
      sizeCalculation: (vector, key) => vector.length * 8 + key.length * 2 + 1,
    }),
    asked: new Map<string, Promise<Embedded>>(),
  };
}

/** Some five thousand vectors of the usual 1,536 numbers. */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * An embedding model that is asked for each text by itself, and for none that it has given a vector before: what stands together
 * in a call differs from run to run, and would be found in no recording and no cache.
 */
export function rememberTexts(
  model: LanguageModelV4,
  provider: string,
  { known, asked }: TextMemory,
): LanguageModelV4 {
  const ask = async (text: string, options: LanguageModelV4CallOptions): Promise<Embedded> => {
    const result = await asNoDraw(() =>
      model.doGenerate({ ...options, ...toEmbeddingCall([text], options.abortSignal) }),
    );
    return readEmbedded(result, { count: 1, provider });
  };
  const find = async (text: string, options: LanguageModelV4CallOptions): Promise<Embedded> => {
    const key = JSON.stringify([provider, model.modelId, text]);
    const vector = known.get(key);
    if (vector !== undefined) return { vectors: [vector], tokens: 0 };
    const other = asked.get(key);
    if (other !== undefined) {
      const shared = await other.catch(() => undefined);
      // Whoever asked may have been given up, or had no budget left.
      return shared === undefined ? await ask(text, options) : { ...shared, tokens: 0 };
    }
    const asking = ask(text, options);
    asked.set(key, asking);
    try {
      const embedded = await asking;
      for (const each of embedded.vectors) known.set(key, each);
      return embedded;
    } finally {
      asked.delete(key);
    }
  };
  return createModel(model, {
    doStream: model.doStream,
    doGenerate: async (options) => {
      const texts = textsOf(options);
      const settled = await Promise.allSettled(texts.map((text) => find(text, options)));
      return toResult(joinAll(settled), model.modelId);
    },
  });
}

/** Throws what the first that failed has thrown. */
function joinAll(settled: readonly PromiseSettledResult<Embedded>[]): Embedded {
  const all = settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  const isCounted = all.every(({ tokens }) => tokens !== undefined);
  return {
    vectors: all.flatMap(({ vectors }) => vectors),
    tokens: isCounted ? all.reduce((sum, { tokens = 0 }) => sum + tokens, 0) : undefined,
    warnings: all.flatMap(({ warnings = [] }) => warnings),
  };
}

/** A text has one vector: none is drawn anew for each epoch, nor for being asked for again. */
function asNoDraw(
  work: () => PromiseLike<LanguageModelV4GenerateResult>,
): PromiseLike<LanguageModelV4GenerateResult> {
  const scope = currentCallScope();
  return scope === undefined ? work() : inCallScope({ ...scope, epoch: 0, asked: new Map() }, work);
}
