import { RuntimeError } from '../base/errors.ts';
import { isTooDeep, MAX_JSON_DEPTH } from '../base/json/depth.ts';
import { type FirePointOptions, firePoint, type PointEvent } from '../calls/hooks/fire-point.ts';
import type { Decision } from '../contract/hook.ts';
import { foreignDialects, foreignNames, isForeign } from '../dialects/registry.ts';

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
  const dialect = isForeign(event.dialect) ? await foreignDialects[event.dialect].loadHooks() : undefined;
  return await firePoint(event, { ...firing, find: () => dialect, dialects: foreignNames });
}
