import type { LanguageModelV4 } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { createModel } from '../wrapped-model.ts';
import { textsOf } from './embedding-call.ts';

/**
 * An embedding model that is only asked for these texts. Throws DENIED where hooks have changed one: the vector would be that of
 * another text, and two texts that are both replaced by the same words would count as the same.
 */
export function requireTexts(model: LanguageModelV4, texts: readonly string[]): LanguageModelV4 {
  return createModel(model, {
    doStream: model.doStream,
    doGenerate: async (options) => {
      const sent = textsOf(options);
      if (sent.length !== texts.length || sent.some((text, index) => text !== texts[index])) {
        throw new RuntimeError('DENIED', 'a hook has changed a text that is to be embedded', {
          hint: 'Its embedding would be that of another text. Redact what is judged before, or let the hook deny, or pass calls of the provider by `match`.',
        });
      }
      return await model.doGenerate(options);
    },
  });
}
