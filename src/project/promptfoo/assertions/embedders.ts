import type { Source } from '../../../yaml/source.ts';
import { embeddingProviderOf, isEmbeddingId } from '../providers/embedding-provider.ts';
import type { ProviderContext } from '../providers/provider-model.ts';
import { collectModels } from './judges.ts';

/** The models that turn texts into vectors, each under an id of the runtime. */
export interface Embedders {
  /** The id of the one that is named; without one, that of all tests. Undefined, with a note, where it cannot be carried. */
  use(given: Source | undefined): string | undefined;
  /** The entries of those that were asked for. */
  used(): readonly Readonly<Record<string, unknown>>[];
}

/** Embedders of a config, of which `common` is the provider of all tests. */
export function collectEmbedders(common: Source, { notes }: ProviderContext): Embedders {
  const models = collectModels(embeddingProviderOf);
  const ofPromptfoo = () => notes.open('openai:embedding:text-embedding-3-small', () => common.location);
  return {
    use: (given) => {
      const own = embedderOf(given);
      return own === undefined
        ? models.use(embedderOf(common) ?? ofPromptfoo(), 'embed')
        : models.use(own, 'embed-');
    },
    used: models.used,
  };
}

/** What embeds, where there are several kinds; a model that only answers is passed over, as promptfoo does. */
function embedderOf(given: Source | undefined): Source | undefined {
  if (given?.at('embedding').isGiven) return given.at('embedding');
  return isEmbeddingId(given?.text() ?? given?.at('id').text() ?? '') ? given : undefined;
}
