import { resolve } from 'node:path';
import { isObject } from '../../../json/json.ts';
import { suggest } from '../../../text/suggest.ts';
import type { Path, YamlDocument } from '../../../yaml/document.ts';
import { isError } from '../../../yaml/finding.ts';
import { entriesAt, integerAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { HookDraft } from '../../foreign-files.ts';
import { type ImportContext, type KeyUses, reportDisabled, reportKeys } from '../../import-context.ts';
import { type HookProcess, type Limits, toDraft } from './draft.ts';
import { picoclawLimits } from './entry.ts';
import { picoclawKindNames, picoclawMethods } from './events.ts';
import { findShapeFaults } from './file-shape.ts';

/** Whether a file looks like PicoClaw’s config.json rather than like a list of hooks. */
export function isOwnFile(document: YamlDocument): boolean {
  return entriesAt(document, ['hooks']).some(
    ({ name, value }) => ['processes', 'builtins'].includes(name.toLowerCase()) && isObject(value),
  );
}

/** Top-level keys of a config.json. Source: `Config` of pkg/config. */
const fileKeys: KeyUses = {
  hooks: 'read',
  isolation: 'read',
  ...Object.fromEntries(
    ['version', 'agents', 'bindings', 'session', 'channels', 'channel_list', 'model_list', 'providers']
      .concat(['gateway', 'tools', 'heartbeat', 'devices', 'voice', 'build_info', 'events', 'evolution'])
      .map((key) => [key, 'irrelevant'] as const),
  ),
};

/** The enabled processes of a config.json, in the order in which PicoClaw runs them: by priority, then name. */
export function readProcesses(context: ImportContext, folder: string): HookDraft[] {
  const { document, addFinding } = context;
  // A misspelt key of PicoClaw's is always an error: its own reader is as strict.
  reportKeys({ ...context, mustNotDrop: true }, fileKeys);
  if (valueAt(document, ['isolation', 'enabled']) === true) {
    const message = 'processes would run with less isolation than this asks for';
    const hint = 'Set it to false, or keep these hooks out.';
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
    .toSorted((a, b) => a.priority - b.priority || (a.name < b.name ? -1 : 1))
    .map(toDraft);
}

/** Reports an error for each enabled builtin hook: it is compiled into PicoClaw and cannot run here. */
function refuseBuiltins({ document, addFinding }: ImportContext): void {
  for (const { path, value } of entriesAt(document, ['hooks', 'builtins'])) {
    if (!isObject(value) || value['enabled'] === false) continue;
    const message = 'is compiled into PicoClaw and cannot run here';
    const hint = 'Set `enabled: false`, and put a process in its place.';
    addFinding({ severity: 'error', path, message, hint, atKey: true });
  }
}

function readDefaults({ document, addFinding }: ImportContext): Limits {
  const read = (key: string, standard: number): number => {
    const path = ['hooks', 'defaults', key];
    if (valueAt(document, path) === undefined) return standard;
    const given = integerAt(document, path);
    if (given === undefined && valueAt(document, path) !== null) {
      const message = `is no number of milliseconds above 0; the default, ${standard}, applies`;
      addFinding({ severity: 'warning', path, message });
    }
    return given ?? standard;
  };
  return {
    interceptorTimeoutMs: read('interceptor_timeout_ms', picoclawLimits.interceptorTimeoutMs),
    approvalTimeoutMs: read('approval_timeout_ms', picoclawLimits.approvalTimeoutMs),
    observerTimeoutMs: read('observer_timeout_ms', picoclawLimits.observerTimeoutMs),
  };
}

function readProcess(
  context: ImportContext,
  { name, path, folder }: { readonly name: string; readonly path: Path; readonly folder: string },
  limits: Limits,
): HookProcess[] {
  const { document } = context;
  const faults = findFaults(document, path);
  for (const fault of faults) context.addFinding({ severity: 'error', ...fault });
  if (faults.length > 0) return [];
  const [command = '', ...args] = itemsAt(document, [...path, 'command']).map(
    (item) => textAt(document, item) ?? '',
  );
  const dir = resolve(folder, nonEmptyTextAt(document, [...path, 'dir']) ?? '.');
  const named = wordsAt(document, [...path, 'intercept']);
  const priority = valueAt(document, [...path, 'priority']);
  return [
    {
      name,
      priority: typeof priority === 'number' ? priority : 0,
      command: command.includes('/') ? resolve(dir, command) : command,
      args,
      dir,
      env: entriesAt(document, [...path, 'env']).map(
        (entry) => `${entry.name}=${textAt(document, entry.path) ?? ''}`,
      ),
      intercept: picoclawMethods.filter((method) => named.includes(method)),
      observe: wordsAt(document, [...path, 'observe']),
      ...limits,
      source: document.keyPositionOf(path),
      commandPosition: document.positionOf([...path, 'command']),
    },
  ];
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
  return (
    itemsAt(document, path)
      // PicoClaw skips an empty method, and an empty kind is every kind.
      .filter((item) => valueAt(document, item) !== '')
      .filter((item) => !known.some((word) => word === valueAt(document, item)))
      .map((item) => {
        const word = String(textAt(document, item) ?? 'no string');
        return { path: item, message: `is not known (got: ${word})`, ...suggest(word, known) };
      })
  );
}

function wordsAt(document: YamlDocument, path: Path): string[] {
  return itemsAt(document, path).flatMap((item) => textAt(document, item) ?? []);
}
