import { stringifyJson } from '../../../base/json/json.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { embeddingProviderOf, isEmbeddingId, type ProviderContext } from '../suite/models.ts';
import { readProvider, slugOf } from '../suite/providers.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The models that grade, each under an id of the runtime. */
export interface Judges {
  /** The id of the judge that is named; without one, that of all tests. Undefined, with a note, where it is no model. */
  use(given: Source | undefined): string | undefined;
  /** The entries of those that were asked for. */
  used(): readonly Mapping[];
}

/** Judges of a config, of which `common` is that of all tests. */
export function collectJudges(common: Source, context: ProviderContext): Judges {
  const models = collectModels((source) => {
    const provider = readProvider(source, context);
    if (provider !== undefined && provider.kind !== 'chat')
      source.leave('a judge that is no model is left out');
    if (provider?.kind !== 'chat') return undefined;
    const lost = Object.keys(provider.chat ?? {}).map((key) => `\`${key}\``);
    if (lost.length > 0) source.note('error', `${lost.join(', ')} of a judge is not carried`);
    return { entry: provider.entry, label: provider.id };
  });
  const ofPromptfoo = () => context.notes.open('openai:gpt-4.1', () => common.location);
  return {
    use: (given) => {
      const own = graderOf(given);
      return own === undefined
        ? models.use(graderOf(common) ?? ofPromptfoo(), 'judge')
        : models.use(own, 'judge-');
    },
    used: models.used,
  };
}

/** The grader of texts, where there are several kinds; undefined where only others are named. */
function graderOf(given: Source | undefined): Source | undefined {
  if (given?.isGiven !== true || isEmbeddingId(given.text() ?? given.at('id').text() ?? '')) return undefined;
  if (given.at('text').isGiven) return given.at('text');
  const isOther = ['embedding', 'classification', 'moderation'].some((kind) => given.at(kind).isGiven);
  return isOther ? undefined : given;
}

interface ReadModel {
  readonly entry: Mapping;
  readonly label: string;
}

/** Models that are read once each, equal ones under one id: `name`, or `name` with what the model is called. */
function collectModels(read: (source: Source) => ReadModel | undefined) {
  const known = new Map<Source, ReadModel | undefined>();
  const ids = new Map<string, { readonly id: string; readonly entry: Mapping }>();
  return {
    use: (source: Source, name: string): string | undefined => {
      const found = known.has(source) ? known.get(source) : read(source);
      known.set(source, found);
      if (found === undefined) return undefined;
      const base = name.endsWith('-') ? `${name}${slugOf(found.label)}` : name;
      const { id: _, ...entry } = found.entry;
      const key = `${base} ${stringifyJson(entry)}`;
      const taken = [...ids.values()].map(({ id }) => id);
      let id = ids.get(key)?.id ?? base;
      for (let count = 2; !ids.has(key) && taken.includes(id); count += 1) id = `${base}-${count}`;
      ids.set(key, { id, entry });
      return id;
    },
    used: (): readonly Mapping[] => [...ids.values()].map(({ id, entry }) => ({ id, ...entry })),
  };
}

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
