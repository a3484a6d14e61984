import { resolve } from 'node:path';
import type { ExecConfig, ForeignHookConfig, ProviderConfig, RuntimeConfig } from '../../config/config.ts';
import type { HookKind } from '../../contract/hook.ts';
import { isObject } from '../../json/json.ts';
import { standIn } from '../../provider/open/stand-in.ts';
import { digestFiles } from './digest-files.ts';
import type { SubjectContext } from './source.ts';

// What answers, as JSON values: an entry of the config without where it stands, and the contents of the files that it
// names. No secrets: of forwarded variables there are the names only, and of credentials nothing.

/** These tools, with their programs. */
export function describeTools(config: RuntimeConfig, names: readonly string[]): unknown {
  return config.tools
    .filter(({ name }) => names.includes(name))
    .map(({ position: _position, exec, ...tool }) => ({ ...tool, exec: exec && describeExec(config, exec) }));
}

/** These evals, with their programs. */
export function describeEvals(config: RuntimeConfig, names: readonly string[]): unknown {
  return config.evals
    .filter(({ name }) => names.includes(name))
    .map(({ exec, ...entry }) => ({ ...entry, exec: describeExec(config, exec) }));
}

/** The hooks that may change an answer, with their programs; those of a foreign dialect may have a say anywhere. */
export function describeHooks(config: RuntimeConfig, kind?: HookKind): unknown {
  const natives = config.hooks
    .filter(({ hook, mode }) => mode === 'filter' && (kind === undefined || hook === kind))
    .map(({ place, exec, ...entry }) => ({ place, said: { ...entry, exec: describeExec(config, exec) } }));
  const strangers = config.foreign.map((hook) => ({
    place: hook.place,
    said: describeForeign(config, hook),
  }));
  // In which order they run counts, and not how many others stand between them.
  return [...natives, ...strangers].toSorted((one, other) => one.place - other.place).map(({ said }) => said);
}

function describeForeign(config: RuntimeConfig, hook: ForeignHookConfig): unknown {
  const { source: _source, place: _place, exec, ...entry } = hook;
  if (exec === undefined) return entry;
  // The line of a shell names files among its words.
  const words = exec.command.split(/[\s"';|&()<>]+/);
  const files = digestFiles(words, resolve(config.folder, exec.cwd ?? '.'));
  return { ...entry, exec: describeExec(config, exec), files };
}

type ProviderContext = Pick<SubjectContext, 'config' | 'env'>;

/** These providers, or who stands in for them. */
export function describeProviders({ config, env }: ProviderContext, ids: readonly string[]): unknown {
  return config.providers
    .filter(({ id }) => ids.includes(id))
    .map((provider) => describeProvider(config, stoodInFor(provider, env)));
}

/** Everything that the config declares. */
export function describeConfig(context: ProviderContext): unknown {
  const { config } = context;
  const { file, tools, evals, hooks, foreign, providers } = config;
  const execs = [...tools.flatMap(({ exec }) => exec ?? []), ...[...evals, ...hooks].map(({ exec }) => exec)];
  return {
    text: digestFiles([resolve(file)], ''),
    execs: execs.map((exec) => describeExec(config, exec)),
    foreign: foreign.map((hook) => describeForeign(config, hook)),
    models: describeProviders(
      context,
      providers.map(({ id }) => id),
    ),
  };
}

function describeExec({ folder }: RuntimeConfig, { position: _position, ...exec }: ExecConfig): unknown {
  const { command, args, env, cwd } = exec;
  const words = [...args, ...env].flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]);
  return {
    ...exec,
    // A bare name is looked up on PATH: an interpreter, which is no part of what is judged.
    program: command.includes('/') ? digestFiles([command], folder) : [],
    files: digestFiles(words, resolve(folder, cwd ?? '.')),
  };
}

function stoodInFor(provider: ProviderConfig, env: SubjectContext['env']): ProviderConfig {
  try {
    return standIn(provider, env);
  } catch {
    // It cannot answer at all, which is told when it is asked.
    return provider;
  }
}

function describeProvider({ folder }: RuntimeConfig, provider: ProviderConfig): unknown {
  const { position: _position, credential: _credential, ...rest } = provider;
  return { ...rest, files: digestFiles(textsIn(rest.additionalConfig), folder) };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
