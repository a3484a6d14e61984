import type { Path, YamlDocument } from '../../../yaml/document.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import { choiceAt, itemsAt, millisecondsAt, nonEmptyTextAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { EntryContext, EntryReading } from '../../dialect-config.ts';
import { picoclawMethods } from './events.ts';
import type { PicoclawMethod, PicoclawSettings } from './settings.ts';

/** PicoClaw’s own limits, in milliseconds. Source: hooks/README.md, and a hello limit that it lacks. */
export const picoclawLimits = {
  helloTimeoutMs: 5_000,
  interceptorTimeoutMs: 5_000,
  approvalTimeoutMs: 60_000,
  observerTimeoutMs: 500,
} as const;

/** The PicoClaw process that an entry of `spec.hooks` declares. */
export function readEntry(
  document: YamlDocument,
  path: Path,
  { exec, defaults }: EntryContext,
): EntryReading<PicoclawSettings> {
  const block = [...path, 'picoclaw'];
  const limit = (key: string) => millisecondsAt(document, [...block, key]);
  const { interceptorTimeoutMs: standard, approvalTimeoutMs, observerTimeoutMs } = picoclawLimits;
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

/** The settings that an import may have as well as an entry. */
export function readWire(
  document: YamlDocument,
  block: Path,
): Pick<PicoclawSettings, 'version' | 'eventKind' | 'isLenient' | 'helloTimeoutMs'> {
  return {
    version: choiceAt(document, [...block, 'version'], ['head']) ?? '0.2.8-doc',
    eventKind: choiceAt(document, [...block, 'event_kind'], ['name']) ?? 'number',
    isLenient: valueAt(document, [...block, 'lenient']) === true,
    helloTimeoutMs: millisecondsAt(document, [...block, 'hello_timeout_ms']) ?? picoclawLimits.helloTimeoutMs,
  };
}

/** `intercept`, or its short form: `hook` with `phases`. In the order of the methods. */
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
