import { toFault } from '../../../base/errors.ts';
import { type EvalUnscored, unscored } from '../../../contract/eval.ts';
import type { CheckInput, Embed, ParamSpec } from '../check.ts';

export const embedderParam: ParamSpec = {
  schema: { type: 'string', minLength: 1 },
  asks: 'embedding',
  description:
    'The id of the embedding provider, which has `role: embedding`. Default: the one with the id `embed`, or the only one.',
};

/** Unscored with the fault if the embeddings fail. Never rejects. */
export async function embedTexts(
  { embed, signal }: CheckInput,
  provider: unknown,
  texts: readonly string[],
): Promise<Awaited<ReturnType<Embed>> | EvalUnscored> {
  if (texts.some((text) => text.trim() === '')) return unscored('there is no text to embed');
  if (texts.reduce((sum, text) => sum + text.length, 0) > MAX_LENGTH) {
    return unscored('the texts are too long to embed');
  }
  try {
    return await embed({ provider: typeof provider === 'string' ? provider : undefined, texts, signal });
  } catch (thrown) {
    const fault = toFault(thrown);
    return unscored(`the texts could not be embedded: ${fault.message}`, fault);
  }
}

/** About 250,000 tokens; most models take 8,000 of each text. */
const MAX_LENGTH = 1_000_000;
