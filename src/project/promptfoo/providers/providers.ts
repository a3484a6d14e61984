import { isObject } from '../../../json/json.ts';
import type { Path } from '../../../yaml/document.ts';
import type { Notes } from '../../suite-import/notes.ts';
import { valueOfFile } from '../../suite-import/source-files.ts';
import { chatProviderOf } from './chat-provider.ts';
import type { GivenProvider, ProviderContext } from './provider-model.ts';
import { isProgram, toolOf } from './tool-provider.ts';

/** What answers a prompt: a model, a program, or `echo`, a scripted model whose answer is the prompt. */
export interface ImportedProvider {
  readonly kind: 'chat' | 'tool' | 'echo';
  readonly name: string;
  /** As the config has them. */
  readonly id: string;
  readonly label: string;
  /** Of `spec.tools` for a program, of `spec.providers` for the others. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The labels of the prompts that it is asked; all of them where it names none. */
  readonly prompts?: readonly string[];
  /** Options of a chat with a model that no entry of `spec.providers` has. */
  readonly chat?: Readonly<Record<string, unknown>>;
}

/** The providers of a config, and how many there are with those that are left out, which are noted. */
export interface ImportedProviders {
  readonly providers: readonly ImportedProvider[];
  readonly count: number;
}

/** The providers of a config that can be carried, each under a name of its own. */
export function readProviders(given: unknown, at: Path, context: ProviderContext): ImportedProviders {
  const written: readonly unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  const list = written.flatMap((each, index) =>
    loaded(each, context).map((value) => ({ value, place: Array.isArray(given) ? [...at, index] : at })),
  );
  const taken = new Set<string>();
  const providers = list.flatMap(({ value: each, place }) => {
    const provider = readProvider(each, place, context);
    if (provider === undefined) return [];
    let name = provider.name;
    for (let count = 2; taken.has(name); count += 1) name = `${provider.name}-${count}`;
    taken.add(name);
    return [{ ...rename(provider, name), ...promptsOf(each) }];
  });
  return { providers, count: list.length };
}

/** A provider, or those of a file that it names. */
function loaded(given: unknown, { files }: ProviderContext): readonly unknown[] {
  if (typeof given !== 'string' || !/^file:\/\/.*\.(?:ya?ml|json)$/.test(given)) return [given];
  const found = files.find(given);
  const inner = 'fault' in found ? found : valueOfFile(found.file);
  // Without a counterpart the name of the file is told.
  if ('fault' in inner || inner.value === null || typeof inner.value !== 'object') return [given];
  return Array.isArray(inner.value) ? inner.value : [inner.value];
}

/** One provider; undefined, with a note, where there is no counterpart. */
export function readProvider(
  given: unknown,
  at: Path,
  context: ProviderContext,
): ImportedProvider | undefined {
  const known = normalize(given, at);
  if (known === undefined) {
    context.notes.add('error', at, 'a provider without an id is left out');
    return undefined;
  }
  if (hasForeignKeys(given, known, context.notes)) return undefined;
  const named = { name: slugOf(known.label), id: known.id, label: known.label };
  if (known.id === 'echo') return { kind: 'echo', ...named, entry: { id: named.name, ...echo } };
  if (isProgram(known.id)) {
    const entry = toolOf(known, context);
    return entry === undefined ? undefined : { kind: 'tool', ...named, entry };
  }
  const model = chatProviderOf(known, named.name, context);
  if (model === 'left out') return undefined;
  if (model !== undefined && known.transform !== undefined)
    context.notes.add(
      'error',
      [...at, 'transform'],
      '`transform` of a model is not carried',
      'Make it one of `defaultTest`.',
    );
  if (model !== undefined) return { kind: 'chat', ...named, ...model };
  const kind = known.id.split(':')[0] ?? known.id;
  const hint = 'Declare a provider or a tool in the runtime, and name it in the subject of the suite.';
  context.notes.add('error', at, `the provider \`${kind}\` has no counterpart and is left out`, hint);
  return undefined;
}

function promptsOf(given: unknown): Pick<ImportedProvider, 'prompts'> {
  const [only] = isObject(given) && given['id'] === undefined ? Object.values(given) : [given];
  const prompts = isObject(only) ? only['prompts'] : undefined;
  const names = Array.isArray(prompts) ? prompts.filter((name) => typeof name === 'string') : undefined;
  return names === undefined ? {} : { prompts: names };
}

const echo = {
  type: 'mock',
  model: 'echo',
  pricing: { input_cost_per_1k: 0, output_cost_per_1k: 0 },
  additional_config: { responses: [{ text: '${messages[size(messages) - 1].content}', repeat: true }] },
};

function normalize(given: unknown, at: Path): GivenProvider | undefined {
  if (typeof given === 'string') return { id: given, label: given, config: {}, transform: undefined, at };
  if (!isObject(given)) return undefined;
  const { id = given['model'], label, config, transform } = given;
  if (typeof id === 'string') {
    const name = typeof label === 'string' ? label : id;
    return { id, label: name, config: isObject(config) ? config : {}, transform, at };
  }
  const [only, ...rest] = Object.entries(given);
  if (only === undefined || rest.length > 0 || !isObject(only[1])) return undefined;
  return normalize({ id: only[0], ...only[1] }, [...at, only[0]]);
}

/** Reports what else is said of a provider; whether it may say where requests go, as `env` does. */
function hasForeignKeys(given: unknown, { at }: GivenProvider, notes: Notes): boolean {
  if (!isObject(given)) return false;
  const [only] = given['id'] === undefined && given['model'] === undefined ? Object.values(given) : [given];
  let isElsewhere = false;
  for (const key of Object.keys(isObject(only) ? only : {})) {
    if (['id', 'model', 'label', 'config', 'prompts', 'transform'].includes(key)) continue;
    if (key === 'delay')
      notes.add('note', [...at, key], '`delay` of a provider is not carried: see `rate_limit`');
    else if (key === 'inputs') notes.add('error', [...at, key], '`inputs` of a provider is not carried');
    else {
      isElsewhere = true;
      const message = `a provider with \`${key}\` is left out: its requests could go elsewhere`;
      notes.add('error', [...at, key], message);
    }
  }
  return isElsewhere;
}

/** A name of letters, digits and hyphens. */
export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 48);
  // Judges and embedders are called so.
  return slug === '' || /^(?:judge|embed)(?:-|$)/.test(slug)
    ? `provider${slug === '' ? '' : `-${slug}`}`
    : slug;
}

function rename(provider: ImportedProvider, name: string): ImportedProvider {
  if (provider.kind === 'tool') return { ...provider, name };
  return { ...provider, name, entry: { ...provider.entry, id: name } };
}
