import { readEvent } from '../../calls/hooks/event-input.ts';
import type { NativeEvent } from '../../contract/hook.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import type { SuiteRuntime } from '../suite-runtime.ts';

/** Whether a hook of a foreign dialect, declared or imported, may decide an event of that phase. */
export function isHeardByForeignHooks(
  phase: string,
  { foreign, imports }: Pick<SuiteRuntime, 'foreign' | 'imports'>,
): boolean {
  const events = eventsOf(phase);
  return (
    imports.length > 0 ||
    foreign.some(({ dialect, settings }) => {
      const { points, pointsAt, declaredPoints } = foreignDialects[dialect];
      const own = declaredPoints(settings);
      const reached = events.flatMap((event) => pointsAt(event));
      return reached.some((point) => points[point]?.isFilter === true && (own?.includes(point) ?? true));
    })
  );
}

/** Sample events of a phase; a failed tool and a successful one may be different points. */
function eventsOf(phase: string): readonly NativeEvent[] {
  const request = { name: 'tool' };
  switch (phase) {
    case 'before_call':
      return [readEvent({ hook: 'provider', phase, request: {} })];
    case 'after_call':
      return [readEvent({ hook: 'provider', phase, request: {}, response: {} })];
    case 'before_execution':
      return [readEvent({ hook: 'tool', phase, request })];
    default:
      return ['', 'it failed'].map((error) =>
        readEvent({ hook: 'tool', phase: 'after_execution', request, response: { error } }),
      );
  }
}
