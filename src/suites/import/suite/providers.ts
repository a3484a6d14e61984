import { stringifyJson } from '../../../base/json/json.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { omitUndefined } from '../../../base/yaml/wording.ts';
import { chatProviderOf, type GivenProvider, type ProviderContext } from './models.ts';
import { envNamesOf, envNamesOfFile, javascriptEndings, programOf, readCode } from './programs.ts';

/** A model, a program, or `echo`, a scripted model that returns the prompt. */
export interface ImportedProvider {
  readonly kind: 'chat' | 'tool' | 'echo';
  readonly name: string;
  readonly id: string;
  readonly label: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** The labels of the prompts that it uses; undefined for all. */
  readonly prompts?: readonly string[];
  readonly chat?: Readonly<Record<string, unknown>>;
}

interface ImportedProviders {
  readonly providers: readonly ImportedProvider[];
  readonly count: number;
}

export function readProviders(given: Source, context: ProviderContext): ImportedProviders {
  const written = given.kind === 'list' ? given.items() : given.isGiven ? [given] : [];
  const list = written.flatMap((each) => loaded(each, context));
  const taken = new Set<string>();
  const providers = list.flatMap((each) => {
    const prompts = memberOf(each).at('prompts').texts();
    const provider = readProvider(each, context);
    if (provider === undefined) return [];
    let name = provider.name;
    for (let count = 2; taken.has(name); count += 1) name = `${provider.name}-${count}`;
    taken.add(name);
    return [{ ...rename(provider, name), ...(prompts !== undefined && { prompts }) }];
  });
  return { providers, count: list.length };
}

function loaded(given: Source, { files }: ProviderContext): readonly Source[] {
  const name = given.text();
  if (name === undefined || !/^file:\/\/.*\.(?:ya?ml|json)$/.test(name)) return [given];
  const found = files.open(name);
  if ('fault' in found || (found.kind !== 'list' && found.kind !== 'mapping')) return [given];
  return found.kind === 'list' ? found.items() : [found];
}

export function readProvider(given: Source, context: ProviderContext): ImportedProvider | undefined {
  const known = normalize(given);
  if (known === undefined) {
    given.leave('a provider without an id is left out');
    return undefined;
  }
  if (hasForeignKeys(known.at)) {
    given.whole();
    return undefined;
  }
  const named = { name: slugOf(known.label), id: known.id, label: known.label };
  if (known.id === 'echo') return { kind: 'echo', ...named, entry: { id: named.name, ...echo } };
  if (isProgram(known.id)) {
    const entry = toolOf(known, context);
    return entry === undefined ? undefined : { kind: 'tool', ...named, entry };
  }
  const model = chatProviderOf(known, named.name, context);
  if (model === 'left out') {
    given.whole();
    return undefined;
  }
  if (model !== undefined && known.transform.isGiven)
    known.transform.leave('`transform` of a model is left out', 'Move it to `defaultTest`.');
  if (model !== undefined) return { kind: 'chat', ...named, ...model };
  const kind = known.id.split(':')[0] ?? known.id;
  const hint = 'Declare a provider or a tool in the runtime, and name it in the subject of the suite.';
  given.leave(`the provider \`${kind}\` has no equivalent and is left out`, hint);
  return undefined;
}

const echo = {
  type: 'mock',
  model: 'echo',
  pricing: { input_cost_per_1k: 0, output_cost_per_1k: 0 },
  additional_config: { responses: [{ text: '${messages[size(messages) - 1].content}', repeat: true }] },
};

function memberOf(given: Source): Source {
  const [only, ...rest] = given.keys();
  const isNamed = given.at('id').isGiven || given.at('model').isGiven;
  return only === undefined || rest.length > 0 || isNamed ? given : given.at(only);
}

function normalize(given: Source): GivenProvider | undefined {
  const at = memberOf(given);
  const key = at === given ? given.text() : given.keys()[0];
  const own = at.at('id').text();
  const id = own ?? at.at('model').text() ?? key;
  if (id === undefined || (at !== given && at.kind !== 'mapping')) return undefined;
  return {
    id,
    label: at.at('label').text() ?? id,
    config: at.at('config'),
    transform: at.at('transform'),
    at,
  };
}

/** Notes other keys, and returns whether they may change where requests go, as `env` does. */
function hasForeignKeys(given: Source): boolean {
  let isElsewhere = false;
  for (const [key, member] of given.members()) {
    if (['id', 'model', 'label', 'config', 'prompts', 'transform'].includes(key)) continue;
    if (key === 'delay')
      member.leave('`delay` of a provider is left out: use `rate_limit`', undefined, 'note');
    else if (key === 'inputs') member.leave('`inputs` of a provider is left out');
    else {
      isElsewhere = true;
      member.leave(`a provider with \`${key}\` is left out: it could change the address of its requests`);
    }
  }
  return isElsewhere;
}

export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 48);
  // These prefixes are reserved for judges and embedders.
  return slug === '' || /^(?:judge|embed)(?:-|$)/.test(slug)
    ? `provider${slug === '' ? '' : `-${slug}`}`
    : slug;
}

function rename(provider: ImportedProvider, name: string): ImportedProvider {
  if (provider.kind === 'tool') return { ...provider, name };
  return { ...provider, name, entry: { ...provider.entry, id: name } };
}

type Entry = Readonly<Record<string, unknown>>;

const scriptPattern =
  /^(?:python:(?:file:\/\/)?|file:\/\/|(?=[\w./-]+\.(?:js|cjs|mjs|py)(?::|$)))(.+?\.(py|js|cjs|mjs))(?::([\w.]+))?$/;
const addressPattern = /^https?(?:$|:)/;

function isProgram(id: string): boolean {
  return scriptPattern.test(id) || id.startsWith('exec:') || addressPattern.test(id);
}

function toolOf(given: GivenProvider, context: ProviderContext): Entry | undefined {
  return addressPattern.test(given.id) ? addressOf(given, context) : programEntryOf(given, context);
}

function programEntryOf(given: GivenProvider, context: ProviderContext): Entry | undefined {
  const config = given.config.whole() ?? {};
  if (holdsSecret(config)) return leftOut(given, secret, 'Read it from an environment variable.');
  const script = scriptPattern.exec(given.id);
  const options = optionsOf(given, config, {
    context,
    endings: script?.[2] === 'py' ? ['py'] : javascriptEndings,
  });
  if (options === undefined) return undefined;
  const named = envNamesOf(options);
  if (script === null) return entryOf('exec', [given.id.slice(5).trim(), '', options], named, context);
  const found = context.files.find(script[1] ?? '');
  if ('fault' in found) return leftOut(given, found.fault);
  const language = script[2] === 'py' ? 'python' : 'javascript';
  return entryOf(
    language,
    [found.fromFolder, script[3] ?? '', options],
    [...new Set([...envNamesOfFile(found.file), ...named])].toSorted(),
    context,
  );
}

/**
 * Imports address settings with the same meaning. Leaves out, with a note, a provider with settings that change the
 * address in other ways.
 */
function addressOf(given: GivenProvider, context: ProviderContext): Entry | undefined {
  const { config } = given;
  const url = config.at('url').text() ?? given.id;
  const rest = omitUndefined({
    method: config.at('method').text(),
    headers: config.at('headers').mapping(),
    body: config.at('body').whole(),
    queryParams: config.at('queryParams').mapping(),
  });
  const older = config.at('responseParser').text();
  const transform = config.at('transformResponse').text() ?? older;
  if (holdsSecret(rest)) return leftOut(given, secret, 'Read it from an environment variable.');
  const unknown = config.untaken();
  for (const each of unknown)
    each.leave(
      `an address with the setting \`${each.path.slice(given.config.path.length).join('.')}\` is left out: it could change the address or the content of its requests`,
    );
  if (unknown.length > 0) {
    given.at.whole();
    return undefined;
  }
  if (!/^(?:https?:\/\/|\{\{)/.test(url)) return leftOut(given, 'an invalid address is left out');
  const parse = transform === undefined ? undefined : readCode(transform, context.files, javascriptEndings);
  if (parse !== undefined && 'fault' in parse) return leftOut(given, parse.fault);
  const read = { ...rest, url, ...(parse !== undefined && { transformResponse: parse }) };
  const options = optionsOf(given, read, { context, endings: javascriptEndings });
  return options === undefined ? undefined : entryOf('http', ['', '', options], envNamesOf(options), context);
}

function optionsOf(
  given: GivenProvider,
  config: unknown,
  { context, endings }: { readonly context: ProviderContext; readonly endings: readonly string[] },
): string | undefined {
  if (!given.transform.isGiven) return stringifyJson({ config });
  const text = given.transform.text();
  const code = endings.includes('py')
    ? { fault: '`transform` of a provider in Python is left out' }
    : text === undefined
      ? { fault: 'code that is not text does not run' }
      : readCode(text, context.files, endings);
  return 'fault' in code
    ? leftOut(given, `${code.fault}; the provider is left out`)
    : stringifyJson({ config, transform: code });
}

/** The answer of `promptfoo-run`: the judged text and optional members of a program. */
const inputSchema = {
  type: 'object',
  required: ['prompt', 'vars'],
  properties: { prompt: {}, vars: { type: 'object' } },
};

function entryOf(
  mode: 'exec' | 'http' | 'python' | 'javascript',
  args: readonly string[],
  env: readonly string[],
  { files }: ProviderContext,
): Entry {
  const how = mode === 'exec' || mode === 'http' ? mode : 'provider';
  const exec = programOf(mode === 'python' ? 'python' : 'javascript', [how, ...args], files);
  return {
    description: `The provider of the promptfoo config (${mode}).`,
    input_schema: inputSchema,
    exec: { ...exec, ...(env.length > 0 && { env }) },
  };
}

const secret = 'a provider whose config holds an API key is left out';

function leftOut({ at }: GivenProvider, message: string, hint?: string): undefined {
  at.leave(message, hint);
}

function holdsSecret(value: unknown): boolean {
  return /"[^"]{0,200}(?:key|token|secret|password|authorization)[^"]{0,200}":"(?!(?:Bearer )?\{\{)[^"]{8,}"/i.test(
    stringifyJson(value),
  );
}
