import { stringifyJson } from '../../../base/json/json.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { embeddingProviderOf, isEmbeddingId, type ProviderContext } from '../suite/models.ts';
import { readProvider, slugOf } from '../suite/providers.ts';

type Mapping = Readonly<Record<string, unknown>>;

export interface Graders {
  /** The id of the given judge, or else of the default judge. Undefined, with a note, if it is not a model. */
  judge(given: Source | undefined): string | undefined;
  embedder(given: Source | undefined): string | undefined;
  used(): readonly Mapping[];
}

export function collectGraders(common: Source, context: ProviderContext): Graders {
  const byDefault = (id: string) => () => context.notes.open(id, () => common.location);
  const judges = collectModels(common, {
    id: 'judge',
    namedIn: judgeOf,
    byDefault: byDefault('openai:gpt-4.1'),
    read: (source) => {
      const provider = readProvider(source, context);
      if (provider !== undefined && provider.kind !== 'chat')
        source.leave('a judge that is not a model is left out');
      if (provider?.kind !== 'chat') return undefined;
      const lost = Object.keys(provider.chat ?? {}).map((key) => `\`${key}\``);
      if (lost.length > 0) source.note('error', `${lost.join(', ')} of a judge is left out`);
      return { entry: provider.entry, label: provider.id };
    },
  });
  const embedders = collectModels(common, {
    id: 'embed',
    namedIn: embedderOf,
    byDefault: byDefault('openai:embedding:text-embedding-3-small'),
    read: embeddingProviderOf,
  });
  return {
    judge: judges.use,
    embedder: embedders.use,
    used: () => [...judges.used(), ...embedders.used()],
  };
}

function judgeOf(given: Source | undefined): Source | undefined {
  if (given?.isGiven !== true || isEmbeddingId(given.text() ?? given.at('id').text() ?? '')) return undefined;
  if (given.at('text').isGiven) return given.at('text');
  const isOther = ['embedding', 'classification', 'moderation'].some((kind) => given.at(kind).isGiven);
  return isOther ? undefined : given;
}

/** Selects the embedder among several kinds. Skips a model that only answers, as promptfoo does. */
function embedderOf(given: Source | undefined): Source | undefined {
  if (given?.at('embedding').isGiven) return given.at('embedding');
  return isEmbeddingId(given?.text() ?? given?.at('id').text() ?? '') ? given : undefined;
}

interface ModelKind {
  readonly id: string;
  readonly namedIn: (given: Source | undefined) => Source | undefined;
  readonly byDefault: () => Source;
  readonly read: (source: Source) => { readonly entry: Mapping; readonly label: string } | undefined;
}

function collectModels(common: Source, { id: name, namedIn, byDefault, read }: ModelKind) {
  const known = new Map<Source, ReturnType<ModelKind['read']>>();
  const ids = new Map<string, { readonly id: string; readonly entry: Mapping }>();
  return {
    use: (given: Source | undefined): string | undefined => {
      const own = namedIn(given);
      const source = own ?? namedIn(common) ?? byDefault();
      const found = known.has(source) ? known.get(source) : read(source);
      known.set(source, found);
      if (found === undefined) return undefined;
      const base = own === undefined ? name : `${name}-${slugOf(found.label)}`;
      const { id: _, ...entry } = found.entry;
      const key = `${base} ${stringifyJson(entry)}`;
      const taken = [...ids.values()].map((each) => each.id);
      let id = ids.get(key)?.id ?? base;
      for (let count = 2; !ids.has(key) && taken.includes(id); count += 1) id = `${base}-${count}`;
      ids.set(key, { id, entry });
      return id;
    },
    used: (): readonly Mapping[] => [...ids.values()].map(({ id, entry }) => ({ id, ...entry })),
  };
}
