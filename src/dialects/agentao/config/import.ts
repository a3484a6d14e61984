import { findMissingScript } from '../../../base/files/missing-script.ts';
import { variablesOf } from '../../../base/files/shell-line.ts';
import { isObject } from '../../../base/json/json.ts';
import type { Path } from '../../../base/yaml/document.ts';
import { omitUndefined } from '../../../base/yaml/present.ts';
import type { SourceLocation } from '../../../base/yaml/problem.ts';
import { valueAt } from '../../../base/yaml/read.ts';
import { type DraftHook, type HookDraft, type ImportContext, shortPath } from '../../foreign-files.ts';
import { findMatcherFaults } from '../matcher.ts';
import { agentaoEvents, agentaoMandatoryEvents, agentaoStopCap } from './settings.ts';

/** The rule at `path`, which has a `type`; none, with Agentao’s warning, where Agentao would skip it. */
export function readRule(context: ImportContext, event: string, path: Path): HookDraft[] {
  const { document, projectDir } = context;
  if (!agentaoEvents.some((name) => name === event)) {
    reportSkippedRule(context, { event, path, message: `Unsupported hook event '${event}' — skipped` });
    return [];
  }
  const fault =
    findTypeFault(valueAt(document, [...path, 'type']), event) ?? findMatcherFault(context, event, path);
  if (fault !== undefined) {
    reportSkippedRule(context, { event, path, message: fault });
    return [];
  }
  const matcher = valueAt(document, [...path, 'matcher']);
  if (isObject(matcher) && !passesChecks(context, { event, matcher }, [...path, 'matcher'])) return [];
  const key = valueAt(document, [...path, 'type']) === 'prompt' ? 'prompt' : 'command';
  const text = valueAt(document, [...path, key]);
  if (typeof text !== 'string' || text.includes('\0') || (key === 'command' && text.trim() === '')) {
    reportSkippedRule(context, {
      event,
      path,
      message: `Hook rule under '${event}' has no ${key} — rule skipped`,
    });
    return [];
  }
  if (key === 'command') warnOfScript(context, text, [...path, 'command']);
  return [
    toDraft({
      event,
      ...omitUndefined({
        matcher: isObject(matcher) ? matcher : undefined,
        timeoutMs: readTimeout(context, event, [...path, 'timeout']),
      }),
      [key]: text,
      projectDir,
      source: document.positionOf(path),
      commandPosition: document.positionOf([...path, key]),
    }),
  ];
}

/** Reports an entry that is no rule at all, as Agentao would. */
export function reportUnknownForm(context: ImportContext, event: string, path: Path): void {
  const entry = valueAt(context.document, path);
  const message = isObject(entry)
    ? unknownType(entry['type'] ?? '', event)
    : `Hook entry under '${event}' is not an object — skipped`;
  reportSkippedRule(context, { event, path, message });
}

/** Reports a skipped rule: as an error where `on_failure: deny` needs it, else with Agentao’s own warning. */
function reportSkippedRule(
  { mustNotDrop, addFinding }: ImportContext,
  { event, path, message }: { readonly event: string; readonly path: Path; readonly message: string },
): void {
  const isGuard = mustNotDrop && agentaoMandatoryEvents.has(event);
  const hint = '`on_failure: deny` holds here, and a guard that was dropped guards nothing.';
  addFinding({ severity: isGuard ? 'error' : 'warning', path, message, ...(isGuard ? { hint } : {}) });
}

function findTypeFault(type: unknown, event: string): string | undefined {
  if (type === 'command' || (type === 'prompt' && event === 'UserPromptSubmit')) return undefined;
  if (type === 'prompt') {
    return `Hook type 'prompt' is not supported for event '${event}' — skipped. (Allowed for this event: ['command'])`;
  }
  if (type === 'http' || type === 'agent') {
    return `Hook type '${type}' under '${event}' is not supported — skipped`;
  }
  return unknownType(type ?? '', event);
}

/** What Agentao says of a type that it does not know; '' where there is none. */
function unknownType(type: unknown, event: string): string {
  const text = typeof type === 'string' || typeof type === 'number' ? type : nameOfType(type);
  return `Unknown hook type '${text}' under '${event}' — skipped`;
}

function findMatcherFault({ document }: ImportContext, event: string, path: Path): string | undefined {
  const matcher = valueAt(document, [...path, 'matcher']);
  if (matcher === undefined || matcher === null || isObject(matcher)) return undefined;
  return `Hook rule under '${event}' has non-object matcher of type ${nameOfType(matcher)}; matcher must be an object like {"trigger": "manual|auto"} — rule skipped.`;
}

/** A JSON value’s type as Python names it. */
function nameOfType(value: unknown): string {
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return Array.isArray(value) ? 'list' : 'dict';
}

function passesChecks(
  { addFinding }: ImportContext,
  { event, matcher }: { readonly event: string; readonly matcher: Readonly<Record<string, unknown>> },
  path: Path,
): boolean {
  const findings = findMatcherFaults(event, matcher);
  for (const finding of findings) addFinding({ ...finding, path });
  return findings.every(({ severity }) => severity !== 'error');
}

function warnOfScript(
  { projectDir, searchPath, addFinding }: ImportContext,
  command: string,
  path: Path,
): void {
  const message = findMissingScript({ command, cwd: projectDir, folder: projectDir, searchPath });
  if (message !== undefined) addFinding({ severity: 'warning', path, message, about: 'program' });
}

/** Whole seconds, read as Python’s int() reads them; undefined for the default. */
function readTimeout({ document, addFinding }: ImportContext, event: string, path: Path): number | undefined {
  const value = valueAt(document, path);
  if (value === undefined) return undefined;
  const isNumeral = typeof value === 'string' && /^\s*[-+]?\d+\s*$/.test(value);
  const seconds = typeof value === 'number' || isNumeral ? Math.trunc(Number(value)) : Number.NaN;
  if (seconds >= 1 && seconds <= 2_147_483) return seconds * 1000;
  const text = typeof value === 'string' || typeof value === 'number' ? value : nameOfType(value);
  const message = `Invalid timeout value '${text}' under '${event}' — using default 60s`;
  addFinding({ severity: 'warning', path, message });
  return undefined;
}

/** A rule as read from its file. */
interface Rule {
  readonly event: string;
  readonly matcher?: Readonly<Record<string, unknown>>;
  /** Exactly one of the two. */
  readonly command?: string;
  readonly prompt?: string;
  readonly timeoutMs?: number;
  readonly projectDir: string;
  readonly source: SourceLocation;
  readonly commandPosition: SourceLocation;
}

/** The rule as a hook that may become an entry of the config. */
function toDraft(rule: Rule): HookDraft {
  const { event, timeoutMs, source, commandPosition } = rule;
  return {
    dialect: 'agentao',
    event,
    source,
    commandPosition,
    ...omitUndefined({ timeoutMs }),
    toHook: () => toHook(rule),
    toEntry: (folder) => toEntry(rule, folder),
  };
}

function toHook({ event, matcher, command, prompt, projectDir }: Rule): DraftHook {
  const settings = {
    event,
    ...omitUndefined({ matcher, prompt, command }),
    stopReentryCap: agentaoStopCap,
    projectDir,
  };
  return command === undefined ? { settings } : { exec: { command, cwd: projectDir }, settings };
}

/** What a line that was written for Claude Code as well reads, and the host does not have. */
const otherSystemsVariables = [
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_PLUGIN_ROOT',
  'CLAUDE_PLUGIN_DATA',
  'CLAUDE_ENV_FILE',
];

function toEntry(rule: Rule, folder: string): Record<string, unknown> {
  const { event, matcher, command, prompt, timeoutMs, projectDir } = rule;
  const block = { event, ...omitUndefined({ matcher, prompt }) };
  if (command === undefined) return { dialect: 'agentao', agentao: block };
  const variables = variablesOf(command, otherSystemsVariables);
  const cwd = shortPath(projectDir, folder);
  return {
    dialect: 'agentao',
    command,
    ...(cwd === '.' ? {} : { cwd }),
    ...(variables.length === 0 ? {} : { env: variables }),
    ...omitUndefined({ timeout_ms: timeoutMs }),
    agentao: block,
  };
}
