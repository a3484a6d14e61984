import type { Decision } from '../contract/hook.ts';
import type { ForeignDialect } from '../dialects/foreign.ts';
import { foreignDialects } from '../dialects/foreign-registry.ts';
import { RuntimeError } from '../errors.ts';
import { type Firing, firePoint, type PointEvent } from '../hooks/fire-point.ts';
import { DEEPEST, isTooDeep } from '../json/depth.ts';

const known = new Map<string, ForeignDialect>(Object.entries(foreignDialects));

/** Takes a point of a foreign dialect through its hooks. Throws EVENT_INVALID. */
export async function fireForeign(
  event: PointEvent,
  firing: Omit<Firing, 'find' | 'dialects'>,
): Promise<Decision> {
  if (isTooDeep(event.payload)) {
    throw new RuntimeError(
      'EVENT_INVALID',
      `the payload is nested in more than ${DEEPEST} levels, or contains itself`,
    );
  }
  return await firePoint(event, { ...firing, find: (name) => known.get(name), dialects: [...known.keys()] });
}
