import { stringifyJson } from '../../../json/json.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import { javascriptEndings, readCode } from '../code.ts';
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
  return addressPattern.test(given.id) ? addressOf(given, context) : programEntryOf(given, context);
}

function programEntryOf(given: GivenProvider, context: ProviderContext): Entry | undefined {
  const config = given.config.whole() ?? {};
  if (holdsSecret(config)) return leftOut(given, secret, 'Read it from a variable.');
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

/** The settings of an address that mean here what they mean there; one that others go by is left out, with a note. */
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
  if (holdsSecret(rest)) return leftOut(given, secret, 'Read it from a variable.');
  const unknown = config.untaken();
  for (const each of unknown)
    each.leave(
      `an address with the setting \`${each.path.slice(given.config.path.length).join('.')}\` is left out: its requests could go elsewhere, or without what they need`,
    );
  if (unknown.length > 0) {
    given.at.whole();
    return undefined;
  }
  if (!/^(?:https?:\/\/|\{\{)/.test(url)) return leftOut(given, 'an address that is none is left out');
  const parse = transform === undefined ? undefined : readCode(transform, context.files, javascriptEndings);
  if (parse !== undefined && 'fault' in parse) return leftOut(given, parse.fault);
  const read = { ...rest, url, ...(parse !== undefined && { transformResponse: parse }) };
  const options = optionsOf(given, read, { context, endings: javascriptEndings });
  return options === undefined ? undefined : entryOf('http', ['', '', options], envNamesOf(options), context);
}

/** Its config and what it makes of its answers, as the program reads them. */
function optionsOf(
  given: GivenProvider,
  config: unknown,
  { context, endings }: { readonly context: ProviderContext; readonly endings: readonly string[] },
): string | undefined {
  if (!given.transform.isGiven) return stringifyJson({ config });
  const text = given.transform.text();
  const code = endings.includes('py')
    ? { fault: '`transform` of a provider in Python is not carried' }
    : text === undefined
      ? { fault: 'code that is no text is not run' }
      : readCode(text, context.files, endings);
  return 'fault' in code
    ? leftOut(given, `${code.fault}; the provider is left out`)
    : stringifyJson({ config, transform: code });
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

const secret = 'a provider whose config holds a key is left out';

function leftOut({ at }: GivenProvider, message: string, hint?: string): undefined {
  at.leave(message, hint);
}

function holdsSecret(value: unknown): boolean {
  return /"[^"]{0,200}(?:key|token|secret|password|authorization)[^"]{0,200}":"(?!(?:Bearer )?\{\{)[^"]{8,}"/i.test(
    stringifyJson(value),
  );
}
