import { isObject } from '../../json/json.ts';
import type { Path } from '../../yaml/document.ts';
import type { SourceLocation } from '../../yaml/problem.ts';
import type { ProviderContext } from './provider-model.ts';
import { type ImportedProvider, readProvider } from './providers.ts';

/** Where a judge is named, which may be in a row of a table. */
interface GivenJudge {
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
      const provider = readProvider(graderOf(value), at, context);
      const isModel = provider?.kind === 'chat';
      if (provider !== undefined && !isModel)
        context.notes.add('error', at, 'a judge that is no model is left out');
      known.set(id, isModel ? { ...provider, name: id, entry: { ...provider.entry, id } } : undefined);
    }
    return known.get(id) === undefined ? undefined : id;
  };
  return {
    use: (given, at) => {
      if (given === undefined)
        return open('judge', common ?? 'openai:gpt-4.1', ['defaultTest', 'options', 'provider']);
      const place = 'file' in given.at ? [] : given.at;
      const value = graderOf(given.value);
      const name = typeof value === 'string' ? value : isObject(value) ? String(value['id']) : 'other';
      return open(`judge-${slug(name)}`, value, 'file' in at ? [] : place);
    },
    used: () => [...known.values()].filter((each) => each !== undefined),
  };
}

/** The grader of texts, where there are several kinds. */
function graderOf(given: unknown): unknown {
  return isObject(given) && given['text'] !== undefined ? given['text'] : given;
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 48);
}
