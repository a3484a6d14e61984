import { isObject } from '../../../json/json.ts';
import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import { isEmbeddingId } from '../providers/embedding-provider.ts';
import type { ProviderContext } from '../providers/provider-model.ts';
import { type ImportedProvider, readProvider } from '../providers/providers.ts';

/** Where a model that grades is named, which may be in a row of a table. */
export interface GivenJudge {
  readonly value: unknown;
  readonly at: Path | SourceLocation;
}

/** The models that grade, each under an id of the runtime. */
export interface Judges {
  /** The id of the judge that is named; without one, that of all tests. Undefined, with a note, where it is no model. */
  use(given: GivenJudge | undefined, at: Path | SourceLocation): string | undefined;
  /** Those that were asked for. */
  used(): readonly ImportedProvider[];
}

/** Judges of a config, of which `common` is that of all tests. */
export function collectJudges(common: unknown, context: ProviderContext): Judges {
  const known = new Map<string, ImportedProvider | undefined>();
  const open = (id: string, value: unknown, at: Path): string | undefined => {
    if (!known.has(id)) {
      const provider = readProvider(value, at, context);
      const isModel = provider?.kind === 'chat';
      if (provider !== undefined && !isModel)
        context.notes.add('error', at, 'a judge that is no model is left out');
      known.set(id, isModel ? { ...provider, name: id, entry: { ...provider.entry, id } } : undefined);
    }
    return known.get(id) === undefined ? undefined : id;
  };
  return {
    use: (given, at) => {
      const value = graderOf(given?.value);
      if (given === undefined || value === undefined)
        return open('judge', graderOf(common) ?? 'openai:gpt-4.1', ['defaultTest', 'options', 'provider']);
      const place = 'file' in given.at ? [] : given.at;
      return open(`judge-${slugOfJudge(value)}`, value, 'file' in at ? [] : place);
    },
    used: () => [...known.values()].filter((each) => each !== undefined),
  };
}

/** The grader of texts, where there are several kinds; undefined where only others are named. */
function graderOf(given: unknown): unknown {
  if (!isObject(given)) return isEmbedder(given) ? undefined : given;
  if (given['text'] !== undefined) return given['text'];
  const isOther = ['embedding', 'classification', 'moderation'].some((kind) => given[kind] !== undefined);
  return isOther || isEmbedder(given['id']) ? undefined : given;
}

function isEmbedder(id: unknown): boolean {
  return typeof id === 'string' && isEmbeddingId(id);
}

/** What an id of the runtime says of a model that is named in the config. */
export function slugOfJudge(value: unknown): string {
  const name = typeof value === 'string' ? value : isObject(value) ? String(value['id']) : 'other';
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 48);
}
