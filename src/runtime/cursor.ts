import { RuntimeError } from '../base/errors.ts';

/** The `next` of a page of `kind` whose last row is at `place`. */
export function toCursor(kind: string, place: number): string {
  return Buffer.from(`${kind}:${place}`).toString('base64url');
}

/** Throws USAGE unless `toCursor` made it for the same kind. */
export function readCursor(kind: string, after: string | undefined): number | undefined {
  if (after === undefined) return undefined;
  const text = typeof after === 'string' ? Buffer.from(after, 'base64url').toString() : '';
  const place = /^\d{1,15}$/.test(text.slice(kind.length + 1))
    ? Number(text.slice(kind.length + 1))
    : Number.NaN;
  if (Number.isSafeInteger(place) && toCursor(kind, place) === after) return place;
  throw unknownPage(after);
}

export function unknownPage(after: unknown): RuntimeError {
  return new RuntimeError('USAGE', `there is no page after ${JSON.stringify(after)}`, {
    hint: 'Give the `next` of the previous page.',
    details: { path: 'after' },
  });
}

/** Throws USAGE. */
export function requireTexts(values: object): void {
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && typeof value !== 'string')
      throw new RuntimeError('USAGE', `\`${name}\` is not a string`, { details: { path: name } });
}

/** Milliseconds since 1970. Throws USAGE. */
export function timeOf(name: string, time: Date | undefined): number | undefined {
  if (time === undefined) return undefined;
  const ms = time instanceof Date ? time.getTime() : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw new RuntimeError('USAGE', `\`${name}\` is not a date`, { details: { path: name } });
}

/** The number of rows on a page. Throws USAGE. */
export function readPageSize(limit = 100): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return limit;
  const most = MAX_PAGE.toLocaleString('en');
  throw new RuntimeError('USAGE', `\`limit\` is not a whole number from 1 to ${most}`);
}

export const MAX_PAGE = 1_000;
