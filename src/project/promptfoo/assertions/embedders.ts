import { isObject } from '../../../json/json.ts';
import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import { embeddingProviderOf, isEmbeddingId } from '../providers/embedding-provider.ts';
import type { ProviderContext } from '../providers/provider-model.ts';
import { type GivenJudge, slugOfJudge } from './judges.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The models that turn texts into vectors, each under an id of the runtime. */
export interface Embedders {
  /** The id of the one that is named; without one, that of all tests. Undefined, with a note, where it cannot be carried. */
  use(given: GivenJudge | undefined): string | undefined;
  /** The entries of those that were asked for. */
  used(): readonly Mapping[];
}

const ofPromptfoo = 'openai:embedding:text-embedding-3-small';

/** Embedders of a config, of which `common` is the provider of all tests. */
export function collectEmbedders(common: unknown, context: ProviderContext): Embedders {
  const known = new Map<string, Mapping | undefined>();
  const open = (id: string, value: unknown, at: Path): string | undefined => {
    if (!known.has(id)) known.set(id, embeddingProviderOf(value, id, { ...context, at }));
    return known.get(id) === undefined ? undefined : id;
  };
  return {
    use: (given) => {
      const own = embedderOf(given?.value);
      if (own === undefined || given === undefined)
        return open('embed', embedderOf(common) ?? ofPromptfoo, ['defaultTest', 'options', 'provider']);
      return open(`embed-${slugOfJudge(own)}`, own, placeOf(given.at));
    },
    used: () => [...known.values()].filter((each) => each !== undefined),
  };
}

/** What embeds, where there are several kinds; a model that only answers is passed over, as promptfoo does. */
function embedderOf(given: unknown): unknown {
  if (isObject(given) && given['embedding'] !== undefined) return given['embedding'];
  const id = isObject(given) ? given['id'] : given;
  return typeof id === 'string' && isEmbeddingId(id) ? given : undefined;
}

function placeOf(at: Path | SourceLocation): Path {
  return 'file' in at ? [] : at;
}
