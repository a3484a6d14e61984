import type { Decision } from '../contract/hook.ts';
import type { ForeignDialect } from '../dialects/foreign-dialect.ts';
import { foreignDialects } from '../dialects/foreign-registry.ts';
import { RuntimeError } from '../errors.ts';
import { type FirePointOptions, firePoint, type PointEvent } from '../hooks/fire-point.ts';
import { isTooDeep, MAX_JSON_DEPTH } from '../json/depth.ts';

const dialectsByName = new Map<string, ForeignDialect>(Object.entries(foreignDialects));

/**
 * Passes a point of a foreign dialect through its hooks and returns the composed decision. Throws
 * EVENT_INVALID.
 */
export async function fireForeignPoint(
  event: PointEvent,
  firing: Omit<FirePointOptions, 'find' | 'dialects'>,
): Promise<Decision> {
  if (isTooDeep(event.payload)) {
    throw new RuntimeError(
      'EVENT_INVALID',
      `the payload is nested in more than ${MAX_JSON_DEPTH} levels, or contains itself`,
    );
  }
  return await firePoint(event, {
    ...firing,
    find: (name) => dialectsByName.get(name),
    dialects: [...dialectsByName.keys()],
  });
}
