import { isAbsolute, posix } from 'node:path';
import { omitUndefined } from '../../../yaml/present.ts';
import type { Source } from '../../../yaml/source.ts';
import type { ImportedProvider } from '../../promptfoo/providers/providers.ts';
import { slugOf } from '../../promptfoo/providers/providers.ts';
import type { SourceFiles } from '../source-files.ts';
import type { ArenaFile } from './arena-files.ts';

type Mapping = Readonly<Record<string, unknown>>;

/**
 * A provider of an Arena, whose keys are those of a RuntimeConfig but for its prices. One with a key that is not carried
 * is left out: prompts could go to another address, or go there with other rights or at another rate.
 */
export function providerOf({ spec, name: fileName }: ArenaFile): ImportedProvider | undefined {
  const [type, model] = [spec.at('type').text(), spec.at('model').text()];
  if (type === undefined || model === undefined) {
    spec.leave('a provider without type or model is left out');
    return undefined;
  }
  const credential = spec.at('credential');
  const named = credential.at('credential_env').text();
  const id = spec.at('id').scalar() ?? fileName;
  const name = slugOf(fileName);
  const entry = omitUndefined({
    id: name,
    type,
    model,
    base_url: spec.at('base_url').text(),
    headers: headersOf(spec.at('headers')),
    rate_limit: numbersOf(spec.at('rate_limit'), ['rps', 'burst']),
    request_timeout: spec.at('request_timeout').text(),
    credential: named === undefined ? undefined : { credential_env: named },
    defaults: numbersOf(spec.at('defaults'), ['temperature', 'top_p', 'max_tokens']),
    pricing: pricingOf(spec.at('pricing')),
  });
  const missed = spec.untaken().map(({ path }) => `\`${path.slice(1).join('.')}\``);
  if (missed.length === 0) return { kind: 'chat', name, id, label: fileName, entry };
  const [first] = spec.untaken();
  const hint = 'Declare the provider in the runtime yourself, and name it in the subject of the suite.';
  first?.note('error', `the provider \`${fileName}\` is left out: ${missed.join(', ')} is not carried`, hint);
  spec.whole();
  return undefined;
}

/** Headers without keys in them, which the import never writes. */
function headersOf(given: Source): Mapping | undefined {
  const isPlain = given.members().every(([name]) => !/auth|key|token|secret|cookie|password/i.test(name));
  return isPlain && given.kind === 'mapping' ? given.mapping() : undefined;
}

function pricingOf(given: Source): Mapping | undefined {
  const price = (name: string): number | undefined => {
    const million = given.at(`${name}_per_million`).number();
    return given.at(`${name}_per_1k`).number() ?? (million === undefined ? undefined : million / 1000);
  };
  const found = omitUndefined({
    input_cost_per_1k: price('input_cost'),
    output_cost_per_1k: price('output_cost'),
  });
  return Object.keys(found).length === 0 ? undefined : found;
}

function numbersOf(given: Source, names: readonly string[]): Mapping | undefined {
  const found = omitUndefined(Object.fromEntries(names.map((name) => [name, given.at(name).number()])));
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Whether a command is a path from the folder of the Arena, and no name on `PATH`. */
function isRelative(command: string): boolean {
  return command.includes('/') && !isAbsolute(command);
}

/** A tool that is a program; undefined, with a note, for others. */
export function toolOf(
  { spec, name }: ArenaFile,
  { folderFromOutput }: SourceFiles,
): readonly [name: string, entry: Mapping] | undefined {
  const exec = spec.at('exec');
  const command = exec.at('command').text();
  const mode = spec.at('mode').text() ?? (exec.isGiven ? 'exec' : 'mock');
  if (command === undefined || mode !== 'exec') {
    spec.leave(`the tool \`${name}\` of mode ${mode} is no program and is left out`);
    return undefined;
  }
  spec.at('name').text();
  const timeout = exec.at('timeout_ms').number() ?? spec.at('timeout_ms').number();
  spec.at('timeout_ms').number();
  const env = exec.at('env').texts();
  const entry = omitUndefined({
    description: spec.at('description').text(),
    input_schema: spec.at('input_schema').mapping(),
    output_schema: spec.at('output_schema').mapping(),
    exec: omitUndefined({
      command: isRelative(command) ? posix.join(folderFromOutput, command) : command,
      args: exec.at('args').texts(),
      env: env?.filter((each) => /^\w+$/.test(each)),
      timeout_ms: timeout,
      runtime: exec.at('runtime').word('server', 'exec'),
      cwd: folderFromOutput === '' ? undefined : folderFromOutput,
    }),
  });
  const literal = env?.find((each) => !/^\w+$/.test(each));
  if (literal !== undefined)
    exec
      .at('env')
      .note('error', '`env` is carried without its values', 'Name the variables, and set them yourself.');
  return [name, entry];
}
