import type { Decision } from './contract/hook.ts';
import { type Firing, firePoint, type PointEvent } from './pipeline/fire-point.ts';
import type { ForeignDialect } from './protocol/foreign.ts';
import { foreignDialects } from './protocol/foreign-registry.ts';

const known = new Map<string, ForeignDialect>(Object.entries(foreignDialects));

/** Takes a point of a foreign dialect through its hooks. Throws EVENT_INVALID. */
export async function fireForeign(
  event: PointEvent,
  firing: Omit<Firing, 'find' | 'dialects'>,
): Promise<Decision> {
  return await firePoint(event, { ...firing, find: (name) => known.get(name), dialects: [...known.keys()] });
}
