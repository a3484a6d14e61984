import type { NativeEvent } from '../../contract/hook.ts';
import { foreignDialects } from '../../dialects/foreign-registry.ts';
import { readEvent } from '../../hooks/event-input.ts';
import type { SuiteRuntime } from './suite-runtime.ts';

/** Whether a hook of a foreign dialect, declared or imported, may decide an event of that phase. */
export function isHeardByForeignHooks(
  phase: string,
  { foreign, imports }: Pick<SuiteRuntime, 'foreign' | 'imports'>,
): boolean {
  const events = eventsOf(phase);
  return (
    imports.length > 0 ||
    foreign.some(({ dialect, settings }) => {
      const { points, pointsAt } = foreignDialects[dialect];
      const own = ownPoints(settings);
      const reached = events.flatMap((event) => pointsAt(event));
      return reached.some((point) => points[point]?.isFilter === true && (own?.includes(point) ?? true));
    })
  );
}

/** The points that a hook declares; undefined where only its process knows them. */
function ownPoints(settings: SuiteRuntime['foreign'][number]['settings']): readonly string[] | undefined {
  if ('event' in settings) return [settings.event];
  return 'intercept' in settings ? settings.intercept : undefined;
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
