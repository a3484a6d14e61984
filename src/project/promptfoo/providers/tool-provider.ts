import { stringifyJson } from '../../../json/json.ts';
import { type Code, javascriptEndings, readCode } from '../code.ts';
import { envNamesOf, envNamesOfFile } from '../env-names.ts';
import { programOf } from '../program.ts';
import type { GivenProvider, ProviderContext } from './provider-model.ts';

type Entry = Readonly<Record<string, unknown>>;

const scriptPattern =
  /^(?:python:(?:file:\/\/)?|file:\/\/|(?=[\w./-]+\.(?:js|cjs|mjs|py)(?::|$)))(.+?\.(py|js|cjs|mjs))(?::([\w.]+))?$/;
const addressPattern = /^https?(?:$|:)/;

/** Whether an id means a program or an address. */
export function isProgram(id: string): boolean {
  return scriptPattern.test(id) || id.startsWith('exec:') || addressPattern.test(id);
}

/** The entry of `spec.tools` that runs such a provider; undefined, with a note, where it cannot be run. */
export function toolOf(given: GivenProvider, context: ProviderContext): Entry | undefined {
  const script = scriptPattern.exec(given.id);
  const isAddress = addressPattern.test(given.id);
  if (holdsSecret(given.config))
    return leftOut(
      given,
      context,
      'a provider whose config holds a key is left out',
      'Read it from a variable.',
    );
  if (isAddress) return addressOf(given, context);
  const options = optionsOf(given, context, script?.[2] === 'py' ? ['py'] : javascriptEndings);
  if (options === undefined) return undefined;
  const named = envNamesOf(options);
  if (script === null) return entryOf('exec', [given.id.slice(5).trim(), '', options], named, context);
  const found = context.files.find(script[1] ?? '');
  if ('fault' in found) return leftOut(given, context, found.fault);
  const language = script[2] === 'py' ? 'python' : 'javascript';
  return entryOf(
    language,
    [found.fromFolder, script[3] ?? '', options],
    [...new Set([...envNamesOfFile(found.file), ...named])].toSorted(),
    context,
  );
}

/** The settings of an address that mean here what they mean there. */
const known = ['url', 'method', 'headers', 'body', 'queryParams', 'transformResponse', 'responseParser'];

function addressOf(given: GivenProvider, context: ProviderContext): Entry | undefined {
  const unknown = Object.keys(given.config).filter((each) => !known.includes(each));
  for (const key of unknown)
    context.notes.add(
      'error',
      [...given.at, 'config', key],
      `an address with the setting \`${key}\` is left out: its requests could go elsewhere, or without what they need`,
    );
  if (unknown.length > 0) return undefined;
  const { url = given.id, responseParser, transformResponse = responseParser, ...rest } = given.config;
  if (typeof url !== 'string' || !/^(?:https?:\/\/|\{\{)/.test(url))
    return leftOut(given, context, 'an address that is none is left out');
  const parse =
    transformResponse === undefined ? undefined : codeOf(transformResponse, context, javascriptEndings);
  if (parse !== undefined && 'fault' in parse) return leftOut(given, context, parse.fault);
  const config = { ...rest, url, ...(parse !== undefined && { transformResponse: parse }) };
  const options = optionsOf({ ...given, config }, context, javascriptEndings);
  return options === undefined ? undefined : entryOf('http', ['', '', options], envNamesOf(options), context);
}

/** Its config and what it makes of its answers, as the program reads them. */
function optionsOf(
  given: GivenProvider,
  context: ProviderContext,
  endings: readonly string[],
): string | undefined {
  if (given.transform === undefined) return stringifyJson({ config: given.config });
  const code = endings.includes('py')
    ? { fault: '`transform` of a provider in Python is not carried' }
    : codeOf(given.transform, context, endings);
  if (!('fault' in code)) return stringifyJson({ config: given.config, transform: code });
  leftOut(given, context, `${code.fault}; the provider is left out`);
  return undefined;
}

function codeOf(
  value: unknown,
  { files }: ProviderContext,
  endings: readonly string[],
): Code | { readonly fault: string } {
  return typeof value === 'string'
    ? readCode(value, files, endings)
    : { fault: 'code that is no text is not run' };
}

/** What `promptfoo-run` answers: the text that is judged, and what a program may say beside it. */
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
    description: `The provider of promptfoo’s config (${mode}).`,
    input_schema: inputSchema,
    exec: { ...exec, ...(env.length > 0 && { env }) },
  };
}

function leftOut(
  given: GivenProvider,
  { notes }: ProviderContext,
  message: string,
  hint?: string,
): undefined {
  notes.add('error', given.at, message, hint);
  return undefined;
}

function holdsSecret(value: unknown): boolean {
  return /"[^"]{0,200}(?:key|token|secret|password|authorization)[^"]{0,200}":"(?!(?:Bearer )?\{\{)[^"]{8,}"/i.test(
    stringifyJson(value),
  );
}
