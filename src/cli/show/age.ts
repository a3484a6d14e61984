import { RuntimeError } from '../../base/errors.ts';

/** An age from an option, in milliseconds; zero takes whatever has ended. Throws USAGE. */
export async function readAge(option: string, value: string): Promise<number> {
  if (/^\+?(?:0+(?:\.0*)?(?:ms|s|m|h|d))+$/.test(value)) return 0;
  const { parseDuration } = await import('../../runtime/runtime.ts');
  const ms = parseDuration(value);
  if (ms !== undefined) return ms;
  throw new RuntimeError('USAGE', `${option} takes a duration, not "${value}"`, {
    hint: 'Write it like 90s, 15m, 12h or 30d.',
  });
}

/** A moment from an option: a date, in UTC unless it says otherwise, or how long ago. Throws USAGE. */
export async function readTime(option: string, value: string): Promise<Date> {
  const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(value)
    ? new Date(value)
    : undefined;
  if (date !== undefined && !Number.isNaN(date.getTime())) return date;
  const { parseDuration } = await import('../../runtime/runtime.ts');
  const ms = parseDuration(value);
  if (ms !== undefined) return new Date(Date.now() - ms);
  throw new RuntimeError('USAGE', `${option} takes a time, not "${value}"`, {
    hint: 'Write it like 24h, 2026-01-31 or 2026-01-31T12:00Z.',
  });
}
