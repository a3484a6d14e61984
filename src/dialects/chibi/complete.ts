import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import { defaultsOf, requireMembers } from '../payload-table.ts';
import { requirePoint } from './points.ts';

/**
 * A payload from the host, with defaults filled in, also for what is null; members that the point does not have stay.
 * Throws EVENT_INVALID, which names the member that is missing or wrong.
 */
export function complete(point: string, given: Payload, hookContext: HookContext): Payload {
  const { fields } = requirePoint(point);
  const present = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
  );
  const known = { ...defaultsOf(fields, present, hookContext), ...present };
  requireMembers(
    fields,
    known,
    (key, problem = 'is missing') => `the payload of ${point}: \`${key}\` ${problem}`,
  );
  return { ...given, ...known };
}
