import { isAbsolute, posix } from 'node:path';
import { isObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import type { ImportedProvider } from '../../promptfoo/providers/providers.ts';
import { slugOf } from '../../promptfoo/providers/providers.ts';
import type { SourceFiles } from '../source-files.ts';
import type { ArenaFile } from './arena-files.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** A provider of an Arena, whose keys are those of a RuntimeConfig but for its prices. */
export function providerOf(file: ArenaFile): ImportedProvider | undefined {
  const { spec } = file;
  const { type, model, base_url, defaults, credential } = spec;
  if (typeof type !== 'string' || typeof model !== 'string') {
    file.note('error', ['spec'], 'a provider without type or model is left out');
    return undefined;
  }
  const named = isObject(credential) ? credential['credential_env'] : undefined;
  if (isObject(credential) && named === undefined)
    file.note(
      'warning',
      ['spec', 'credential'],
      'the key is not written out: name its variable in `credential_env`',
    );
  const name = slugOf(file.name);
  const entry = omitUndefined({
    id: name,
    type,
    model,
    base_url: typeof base_url === 'string' ? base_url : undefined,
    credential: typeof named === 'string' ? { credential_env: named } : undefined,
    defaults: isObject(defaults) ? numbersOf(defaults, ['temperature', 'top_p', 'max_tokens']) : undefined,
    pricing: pricingOf(spec['pricing']),
  });
  return { kind: 'chat', name, id: file.name, label: file.name, entry };
}

function pricingOf(given: unknown): Mapping | undefined {
  if (!isObject(given)) return undefined;
  const price = (name: string): number | undefined => {
    const [thousand, million] = [given[`${name}_per_1k`], given[`${name}_per_million`]];
    if (typeof thousand === 'number') return thousand;
    return typeof million === 'number' ? million / 1000 : undefined;
  };
  const found = omitUndefined({
    input_cost_per_1k: price('input_cost'),
    output_cost_per_1k: price('output_cost'),
  });
  return Object.keys(found).length === 0 ? undefined : found;
}

function numbersOf(given: Mapping, names: readonly string[]): Mapping | undefined {
  const known = Object.entries(given).filter(
    ([name, value]) => names.includes(name) && typeof value === 'number',
  );
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

/** Whether a command is a path from the folder of the Arena, and no name on `PATH`. */
function isRelative(command: string): boolean {
  return command.includes('/') && !isAbsolute(command);
}

/** A tool that is a program; undefined, with a note, for others. */
export function toolOf(
  file: ArenaFile,
  { folderFromOutput }: SourceFiles,
): readonly [name: string, entry: Mapping] | undefined {
  const { description, input_schema, output_schema, exec, mode = 'mock' } = file.spec;
  if (!isObject(exec) || typeof exec['command'] !== 'string') {
    file.note(
      'error',
      ['spec'],
      `the tool \`${file.name}\` of mode ${String(mode)} is no program and is left out`,
    );
    return undefined;
  }
  const { args, env, timeout_ms, runtime } = exec;
  const command = exec['command'];
  const entry = omitUndefined({
    description: typeof description === 'string' ? description : undefined,
    input_schema: isObject(input_schema) ? input_schema : undefined,
    output_schema: isObject(output_schema) ? output_schema : undefined,
    exec: omitUndefined({
      command: isRelative(command) ? posix.join(folderFromOutput, command) : command,
      args: Array.isArray(args) ? args : undefined,
      env: Array.isArray(env)
        ? env.filter((name) => typeof name === 'string' && /^\w+$/.test(name))
        : undefined,
      timeout_ms: typeof timeout_ms === 'number' ? timeout_ms : undefined,
      runtime: runtime === 'server' ? runtime : undefined,
      cwd: folderFromOutput === '' ? undefined : folderFromOutput,
    }),
  });
  return [file.name, entry];
}
