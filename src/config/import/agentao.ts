import { isObject } from '../../json/json.ts';
import type { Path } from '../../yaml/document.ts';
import { present } from '../../yaml/present.ts';
import { valueAt } from '../../yaml/read.ts';
import { agentaoEntryEvents } from '../agentao-events.ts';
import { findMissingScript } from '../command/missing-script.ts';
import type { AgentaoDraft } from './draft.ts';
import type { Reading } from './reading.ts';

/** The rule at `path`, which has a `type`; none where Agentao itself would skip it, in Agentao’s words. */
export function readRule(reading: Reading, event: string, path: Path): AgentaoDraft[] {
  const { document, place } = reading;
  const fault =
    findTypeFault(valueAt(document, [...path, 'type']), event) ?? findMatcherFault(reading, event, path);
  if (fault !== undefined) {
    skipRule(reading, { event, path, message: fault });
    return [];
  }
  const matcher = valueAt(document, [...path, 'matcher']);
  if (isObject(matcher) && !passesChecks(reading, { event, matcher }, [...path, 'matcher'])) return [];
  const key = valueAt(document, [...path, 'type']) === 'prompt' ? 'prompt' : 'command';
  const text = valueAt(document, [...path, key]);
  if (typeof text !== 'string' || text.includes('\0') || (key === 'command' && text.trim() === '')) {
    skipRule(reading, { event, path, message: `Hook rule under '${event}' has no ${key} — rule skipped` });
    return [];
  }
  if (key === 'command') warnOfScript(reading, text, [...path, 'command']);
  return [
    {
      dialect: 'agentao',
      event,
      ...present({
        matcher: isObject(matcher) ? matcher : undefined,
        timeoutMs: readTimeout(reading, event, [...path, 'timeout']),
      }),
      [key]: text,
      projectDir: place.projectDir,
      source: document.positionOf(path),
      commandPosition: document.positionOf([...path, key]),
    },
  ];
}

/** Says that a rule is dropped: an error where a guard must not be missed, else the warning that Agentao gives. */
export function skipRule(
  { mustHold, say }: Reading,
  { event, path, message }: { readonly event: string; readonly path: Path; readonly message: string },
): void {
  const isGuard = mustHold && agentaoEntryEvents.has(event);
  const hint = '`on_failure: deny` holds here, and a guard that was dropped guards nothing.';
  say({ severity: isGuard ? 'error' : 'warning', path, message, ...(isGuard ? { hint } : {}) });
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
export function unknownType(type: unknown, event: string): string {
  const text = typeof type === 'string' || typeof type === 'number' ? type : nameOfType(type);
  return `Unknown hook type '${text}' under '${event}' — skipped`;
}

function findMatcherFault({ document }: Reading, event: string, path: Path): string | undefined {
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
  { checks, say }: Reading,
  { event, matcher }: { readonly event: string; readonly matcher: Readonly<Record<string, unknown>> },
  path: Path,
): boolean {
  const findings = checks.agentaoMatcher(event, matcher);
  for (const finding of findings) say({ ...finding, path });
  return findings.every(({ severity }) => severity !== 'error');
}

function warnOfScript({ place, searchPath, say }: Reading, command: string, path: Path): void {
  const { projectDir } = place;
  const message = findMissingScript({ command, cwd: projectDir, folder: projectDir, searchPath });
  if (message !== undefined) say({ severity: 'warning', path, message });
}

/** Whole seconds, read as Python’s int() reads them; undefined for the default. */
function readTimeout({ document, say }: Reading, event: string, path: Path): number | undefined {
  const value = valueAt(document, path);
  if (value === undefined) return undefined;
  const isNumeral = typeof value === 'string' && /^\s*[-+]?\d+\s*$/.test(value);
  const seconds = typeof value === 'number' || isNumeral ? Math.trunc(Number(value)) : Number.NaN;
  if (seconds >= 1 && seconds <= 2_147_483) return seconds * 1000;
  const text = typeof value === 'string' || typeof value === 'number' ? value : nameOfType(value);
  const message = `Invalid timeout value '${text}' under '${event}' — using default 60s`;
  say({ severity: 'warning', path, message });
  return undefined;
}
