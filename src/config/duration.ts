import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { read } from '../base/yaml/fields.ts';
import { nonEmptyTextAt } from '../base/yaml/read.ts';

/** A hundred years, within the range of dates. */
const longest = 36_500 * 86_400_000;

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const number = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)';

/** A JSON Schema pattern for durations such as `90s`, `1m30s`, `24h`, `7d`; zero does not match. */
export const durationPattern = `^(?=.*[1-9])\\+?(?:${number}(?:ns|us|µs|μs|ms|s|m|h|d))+$`;

const whole = new RegExp(durationPattern);
const part = new RegExp(`(${number})([a-zµμ]+)`, 'g');

/** Whole milliseconds of a Go duration or days (`7d`), from 1 to a hundred years. Undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (!whole.test(text)) return undefined;
  const total = [...text.matchAll(part)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (unitMs[unit ?? ''] ?? Number.NaN),
    0,
  );
  return Number.isNaN(total) ? undefined : Math.min(longest, Math.max(1, Math.round(total)));
}

export const duration = {
  type: 'string',
  pattern: durationPattern,
  [read]: (document: YamlDocument, path: Path): number | undefined =>
    parseDuration(nonEmptyTextAt(document, path) ?? ''),
} as const;
