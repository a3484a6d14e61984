import { isAbsolute, resolve } from 'node:path';
import { isObject } from '../../../base/json/json.ts';
import { findNearest, suggest } from '../../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../../base/yaml/document.ts';
import { type Finding, isError } from '../../../base/yaml/finding.ts';
import {
  choiceAt,
  entriesAt,
  integerAt,
  itemsAt,
  millisecondsAt,
  nonEmptyTextAt,
  textAt,
  valueAt,
} from '../../../base/yaml/read.ts';
import { omitUndefined } from '../../../base/yaml/wording.ts';
import type { EntryContext, EntryReading } from '../../dialect-config.ts';
import {
  type DraftContext,
  type HookDraft,
  type ImportContext,
  type KeyUses,
  reportDisabled,
  reportKeys,
  shortPath,
} from '../../foreign-files.ts';
import {
  type PicoclawMethod,
  type PicoclawSettings,
  picoclawKindNames,
  picoclawMethods,
} from './settings.ts';

/** Returns whether a file looks like PicoClaw’s config.json rather than a list of hooks. */
export function isOwnFile(document: YamlDocument): boolean {
  return entriesAt(document, ['hooks']).some(
    ({ name, value }) => ['processes', 'builtins'].includes(name.toLowerCase()) && isObject(value),
  );
}

/** Source: `Config` of pkg/config. */
const fileKeys: KeyUses = {
  hooks: 'read',
  isolation: 'read',
  ...Object.fromEntries(
    ['version', 'agents', 'bindings', 'session', 'channels', 'channel_list', 'model_list', 'providers']
      .concat(['gateway', 'tools', 'heartbeat', 'devices', 'voice', 'build_info', 'events', 'evolution'])
      .map((key) => [key, 'irrelevant'] as const),
  ),
};

/** The enabled processes of a config.json in PicoClaw's order: by priority, then name. */
export function readProcesses(context: ImportContext, folder: string): HookDraft[] {
  const { document, addFinding } = context;
  // A misspelt key is always an error, because PicoClaw's own reader is as strict.
  reportKeys({ ...context, mustNotDrop: true }, fileKeys);
  if (valueAt(document, ['isolation', 'enabled']) === true) {
    const message = 'processes would run with less isolation than this asks for';
    const hint = 'Set it to false, or remove these hooks.';
    addFinding({ severity: 'error', path: ['isolation', 'enabled'], message, hint });
  }
  const shape = findShapeFaults(document);
  for (const fault of shape) addFinding(fault);
  if (shape.some(isError)) return [];
  if (valueAt(document, ['hooks', 'enabled']) === false) {
    reportDisabled(context, ['hooks', 'enabled'], 'false');
    return [];
  }
  refuseBuiltins(context);
  const limits = readDefaults(context);
  return entriesAt(document, ['hooks', 'processes'])
    .filter(({ path }) => {
      const isEnabled = valueAt(document, [...path, 'enabled']) === true;
      const message = 'is not enabled, and is left out';
      if (!isEnabled && context.notesLeft) addFinding({ severity: 'note', path, message, atKey: true });
      return isEnabled;
    })
    .flatMap(({ name, path }) => readProcess(context, { name, path, folder }, limits))
    .toSorted((a, b) => a.priority - b.priority || (a.draft.name < b.draft.name ? -1 : 1))
    .map(({ draft }) => draft);
}

function refuseBuiltins({ document, addFinding }: ImportContext): void {
  for (const { path, value } of entriesAt(document, ['hooks', 'builtins'])) {
    if (!isObject(value) || value['enabled'] === false) continue;
    const message = 'is compiled into PicoClaw and cannot run here';
    const hint = 'Set `enabled: false`, and use a process instead.';
    addFinding({ severity: 'error', path, message, hint, atKey: true });
  }
}

function readDefaults({ document, addFinding }: ImportContext): Limits {
  const limits = { ...standardLimits };
  for (const [key, limit] of limitKeys) {
    const path = ['hooks', 'defaults', key];
    const value = valueAt(document, path);
    const given = value === undefined ? undefined : integerAt(document, path);
    if (given === undefined && value !== undefined && value !== null) {
      const message = `is not a number of milliseconds above 0; the default, ${limits[limit]}, applies`;
      addFinding({ severity: 'warning', path, message });
    }
    limits[limit] = given ?? limits[limit];
  }
  return limits;
}

function readProcess(
  context: ImportContext,
  { name, path, folder }: { readonly name: string; readonly path: Path; readonly folder: string },
  limits: Limits,
): { readonly priority: number; readonly draft: HookDraft & { readonly name: string } }[] {
  const { document } = context;
  const at = (key: string): Path => [...path, key];
  const faults = findFaults(document, path);
  for (const fault of faults) context.addFinding({ severity: 'error', ...fault });
  if (faults.length > 0) return [];
  const [program = '', ...args] = itemsAt(document, at('command')).map(
    (item) => textAt(document, item) ?? '',
  );
  const dir = resolve(folder, nonEmptyTextAt(document, at('dir')) ?? '.');
  const command = program.includes('/') ? resolve(dir, program) : program;
  const named = wordsAt(document, at('intercept'));
  const priority = valueAt(document, at('priority'));
  const variables = entriesAt(document, at('env')).map(
    (entry) => `${entry.name}=${textAt(document, entry.path) ?? ''}`,
  );
  const asked = {
    intercept: picoclawMethods.filter((method) => named.includes(method)),
    observe: wordsAt(document, at('observe')),
  };
  const draft = {
    dialect: 'picoclaw',
    name,
    source: document.keyPositionOf(path),
    commandPosition: document.positionOf(at('command')),
    timeoutMs: limits.interceptorTimeoutMs,
    toHook: (given: DraftContext) => ({
      exec: { command, args, cwd: dir, runtime: 'server', env: [...given.env, ...variables] } as const,
      settings: { ...readWire(given.document, [...given.path, 'picoclaw']), ...asked, ...limits },
    }),
    toEntry: (base: string) => ({
      dialect: 'picoclaw',
      command: isAbsolute(command) ? shortPath(command, base) : command,
      ...withoutEmpty({ args, env: variables }),
      picoclaw: {
        ...withoutEmpty(asked),
        dir: shortPath(dir, base),
        ...Object.fromEntries(
          limitKeys
            .filter(([, limit]) => limits[limit] !== standardLimits[limit])
            .map(([key, limit]) => [key, limits[limit]]),
        ),
      },
    }),
  };
  return [{ priority: typeof priority === 'number' ? priority : 0, draft }];
}

function withoutEmpty(lists: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

interface Fault {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
}

function findFaults(document: YamlDocument, path: Path): Fault[] {
  const transport = valueAt(document, [...path, 'transport']) ?? '';
  const command = valueAt(document, [...path, 'command']);
  const isCommand =
    Array.isArray(command) && command.every((word) => typeof word === 'string' && !word.includes('\0'));
  const env = valueAt(document, [...path, 'env']) ?? {};
  const isEnv = isObject(env) && Object.values(env).every((value) => typeof value === 'string');
  const methods = wordsAt(document, [...path, 'intercept']).filter((word) => word !== '');
  const isSilent = methods.length === 0 && wordsAt(document, [...path, 'observe']).length === 0;
  return [
    ...(transport === '' || transport === 'stdio'
      ? []
      : [{ path: [...path, 'transport'], message: `must be stdio (got: ${String(transport)})` }]),
    ...(isCommand && command[0]
      ? []
      : [{ path: [...path, 'command'], message: 'must be a list with a program' }]),
    ...(isEnv ? [] : [{ path: [...path, 'env'], message: 'must be a mapping of strings' }]),
    ...unknownWords(document, [...path, 'intercept'], picoclawMethods),
    ...unknownWords(document, [...path, 'observe'], picoclawKindNames),
    ...(isSilent ? [{ path, message: 'has neither intercept nor observe' }] : []),
  ];
}

function unknownWords(document: YamlDocument, path: Path, known: readonly string[]): Fault[] {
  const list = valueAt(document, path);
  if (list !== undefined && list !== null && !Array.isArray(list))
    return [{ path, message: 'must be a list' }];
  return itemsAt(document, path)
    .filter((item) => valueAt(document, item) !== '')
    .filter((item) => !known.some((word) => word === valueAt(document, item)))
    .map((item) => {
      const word = String(textAt(document, item) ?? 'no string');
      return { path: item, message: `is unknown (got: ${word})`, ...suggest(word, known) };
    });
}

function wordsAt(document: YamlDocument, path: Path): string[] {
  return itemsAt(document, path).flatMap((item) => textAt(document, item) ?? []);
}

/** PicoClaw’s default limits. A file may change them for all its processes. Source: hooks/README.md. */
const standardLimits = { interceptorTimeoutMs: 5_000, approvalTimeoutMs: 60_000, observerTimeoutMs: 500 };
type Limits = Readonly<typeof standardLimits>;

const limitKeys = [
  ['interceptor_timeout_ms', 'interceptorTimeoutMs'],
  ['approval_timeout_ms', 'approvalTimeoutMs'],
  ['observer_timeout_ms', 'observerTimeoutMs'],
] as const;

/** PicoClaw has no limit for its hello. */
const HELLO_TIMEOUT_MS = 5_000;

export function readEntry(
  document: YamlDocument,
  path: Path,
  { exec, defaults }: EntryContext,
): EntryReading<PicoclawSettings> {
  const block = [...path, 'picoclaw'];
  const limit = (key: string) => millisecondsAt(document, [...block, key]);
  const { interceptorTimeoutMs: standard, approvalTimeoutMs, observerTimeoutMs } = standardLimits;
  const interceptorTimeoutMs =
    exec.timeoutMs ?? limit('interceptor_timeout_ms') ?? defaults.timeoutMs ?? standard;
  const cwd = nonEmptyTextAt(document, [...block, 'dir']) ?? exec.cwd;
  return {
    exec: { ...exec, runtime: 'server', timeoutMs: interceptorTimeoutMs, ...omitUndefined({ cwd }) },
    settings: {
      ...readWire(document, block),
      intercept: readMethods(document, path),
      observe: itemsAt(document, [...block, 'observe']).map((item) => textAt(document, item) ?? ''),
      interceptorTimeoutMs,
      approvalTimeoutMs: limit('approval_timeout_ms') ?? approvalTimeoutMs,
      observerTimeoutMs: limit('observer_timeout_ms') ?? observerTimeoutMs,
    },
  };
}

function readWire(
  document: YamlDocument,
  block: Path,
): Pick<PicoclawSettings, 'version' | 'eventKind' | 'isLenient' | 'helloTimeoutMs'> {
  return {
    version: choiceAt(document, [...block, 'version'], ['head']) ?? '0.2.8-doc',
    eventKind: choiceAt(document, [...block, 'event_kind'], ['name']) ?? 'number',
    isLenient: valueAt(document, [...block, 'lenient']) === true,
    helloTimeoutMs: millisecondsAt(document, [...block, 'hello_timeout_ms']) ?? HELLO_TIMEOUT_MS,
  };
}

function readMethods(document: YamlDocument, path: Path): PicoclawMethod[] {
  const named = itemsAt(document, [...path, 'picoclaw', 'intercept']).map((item) => textAt(document, item));
  const hook = choiceAt(document, [...path, 'hook'], ['provider', 'tool']);
  if (hook === undefined) return picoclawMethods.filter((method) => named.includes(method));
  const phases = itemsAt(document, [...path, 'phases']).map((item) => textAt(document, item) ?? '');
  return Object.entries(methodOf[hook])
    .filter(([phase]) => phases.length === 0 || phases.includes(phase))
    .map(([, method]) => method);
}

const methodOf = {
  provider: { before_call: 'before_llm', after_call: 'after_llm' },
  tool: { before_execution: 'before_tool', after_execution: 'after_tool' },
} as const;

/**
 * Values of the wrong type and unknown keys in PicoClaw’s config.json. An unknown key that resembles a known one is an
 * error, so that no misspelt guard is lost; any other is a warning. Source: the types of pkg/config, which are strict
 * too.
 */
function findShapeFaults(document: YamlDocument): Finding[] {
  return checkedMappings(document).flatMap(({ path, kinds, isOpen = false }) => {
    const value = valueAt(document, path) ?? {};
    if (!isObject(value)) return [errorAt(path, 'must be a mapping')];
    return entriesAt(document, path).flatMap((entry) => {
      const kind = Object.hasOwn(kinds, entry.name) ? kinds[entry.name] : undefined;
      if (kind === undefined) return unknownKey(entry, Object.keys(kinds), isOpen);
      const isFit = entry.value === null || tests[kind](entry.value);
      return isFit
        ? []
        : [errorAt(entry.path, `must be ${kindWords[kind]} (got: ${JSON.stringify(entry.value)})`)];
    });
  });
}

type Kind = 'flag' | 'whole' | 'text' | 'any';

interface Mapping {
  readonly path: Path;
  /** `any` for members that are checked elsewhere. */
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly isOpen?: boolean;
}

type Kinds = Mapping['kinds'];

const processKinds: Kinds = {
  enabled: 'flag',
  priority: 'whole',
  transport: 'text',
  command: 'any',
  dir: 'text',
  env: 'any',
  observe: 'any',
  intercept: 'any',
};

const defaultKinds: Kinds = {
  interceptor_timeout_ms: 'whole',
  approval_timeout_ms: 'whole',
  observer_timeout_ms: 'whole',
};

const hookKinds: Kinds = { enabled: 'flag', defaults: 'any', builtins: 'any', processes: 'any' };

function checkedMappings(document: YamlDocument): Mapping[] {
  const top: Mapping[] = [
    { path: ['isolation'], kinds: { enabled: 'flag' }, isOpen: true },
    { path: ['hooks'], kinds: hookKinds },
  ];
  if (valueAt(document, ['hooks', 'enabled']) === false) return top;
  const named = (key: string, kinds: Kinds, isOpen: boolean): Mapping[] =>
    entriesAt(document, ['hooks', key]).map(({ path }) => ({ path, kinds, isOpen }));
  const inHooks = (key: string): Mapping => ({ path: ['hooks', key], kinds: {}, isOpen: true });
  return [
    ...top,
    { path: ['hooks', 'defaults'], kinds: defaultKinds },
    inHooks('builtins'),
    ...named('builtins', { enabled: 'flag' }, true),
    inHooks('processes'),
    ...named('processes', processKinds, false),
  ];
}

const tests: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  flag: (value) => typeof value === 'boolean',
  whole: (value) => Number.isInteger(value),
  text: (value) => typeof value === 'string',
  any: () => true,
};

const kindWords = { flag: 'true or false', whole: 'a whole number', text: 'a string', any: '' } as const;

function unknownKey(
  { name, path }: { readonly name: string; readonly path: Path },
  known: readonly string[],
  isOpen: boolean,
): Finding[] {
  const meant = findNearest(name, known);
  if (meant !== undefined)
    return [{ ...errorAt(path, 'is unknown'), hint: `did you mean \`${meant}\`?`, atKey: true }];
  if (isOpen) return [];
  return [{ severity: 'warning', path, message: 'is unknown and ignored', atKey: true }];
}

function errorAt(path: Path, message: string): Finding {
  return { severity: 'error', path, message };
}
