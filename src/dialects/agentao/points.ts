import { RuntimeError } from '../../errors.ts';
import type { Point } from '../foreign-dialect.ts';

/** The eight events of Agentao. Source: developer guide, chapter 5.7. */
export const points = {
  UserPromptSubmit: {
    order: 'serial',
    ends: ['deny', 'abort'],
    isFilter: true,
    composition: { verdict: 'strictest' },
  },
  SessionStart: { order: 'serial', isFilter: true, composition: { verdict: 'strictest' } },
  SessionEnd: { order: 'serial', isFilter: false, isAwaited: true, composition: { verdict: 'strictest' } },
  PreToolUse: {
    order: 'serial',
    ends: ['deny', 'abort'],
    isFilter: true,
    composition: { verdict: 'strictest' },
  },
  PostToolUse: { order: 'serial', isFilter: true, composition: { verdict: 'strictest' } },
  PostToolUseFailure: { order: 'serial', isFilter: true, composition: { verdict: 'strictest' } },
  Stop: {
    order: 'serial',
    // A modify is a forced further turn.
    ends: ['deny', 'abort', 'modify'],
    isFilter: true,
    composition: { verdict: 'strictest' },
  },
  PreCompact: { order: 'serial', isFilter: false, isAwaited: true, composition: { verdict: 'strictest' } },
} as const satisfies Readonly<Record<string, Point>>;

export type PointName = keyof typeof points;

/** Whether the payload has no envelope at this point: Agentao and Claude Code send it alike. */
export function isFlat(point: PointName): boolean {
  return point === 'Stop' || point === 'PreCompact';
}

/** The point of that name. Throws INTERNAL. */
export function requirePoint(name: string): PointName {
  if (isPoint(name)) return name;
  throw new RuntimeError('INTERNAL', `agentao has no event "${name}"`);
}

function isPoint(name: string): name is PointName {
  return Object.hasOwn(points, name);
}
