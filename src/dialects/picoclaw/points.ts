import type { EventPhase, HookEvent } from '../../contract/hook.ts';
import type { Point } from '../foreign-dialect.ts';

/** Each hook gets the event as the last one changed it. The first that stops it decides. */
const filterPoint: Point = { order: 'chain', isFilter: true, composition: { verdict: 'first' } };
const observerPoint: Point = { order: 'parallel', isFilter: false, composition: { verdict: 'first' } };

export const points = {
  before_llm: filterPoint,
  after_llm: filterPoint,
  before_tool: filterPoint,
  approve_tool: filterPoint,
  after_tool: filterPoint,
  event: observerPoint,
  runtime_event: observerPoint,
} as const satisfies Readonly<Record<string, Point>>;

type PointName = keyof typeof points;

/** The points at which hooks answer with an action, and the methods that the hello names only together. */
export const methodPairs = {
  before_llm: ['before_llm', 'after_llm'],
  after_llm: ['before_llm', 'after_llm'],
  before_tool: ['before_tool', 'after_tool'],
  after_tool: ['before_tool', 'after_tool'],
} as const;

export type ActionPoint = keyof typeof methodPairs;

export function isActionPoint(point: string): point is ActionPoint {
  return Object.hasOwn(methodPairs, point);
}

const pointOf: Readonly<Partial<Record<EventPhase, PointName>>> = {
  before_call: 'before_llm',
  after_call: 'after_llm',
  before_execution: 'before_tool',
  approval: 'approve_tool',
  after_execution: 'after_tool',
  turn_start: 'event',
  model_asked: 'event',
  model_retried: 'event',
  model_answered: 'event',
  turn_end: 'event',
  error: 'event',
  started: 'event',
  finished: 'event',
  blocked: 'event',
};

/** For a denied call, only the denial is reported. */
export function pointsAt(event: HookEvent): readonly PointName[] {
  if (event.phase === 'finished' && event.status === 'denied') return [];
  // A hook's ask is answered by a person, not by approvers.
  if (event.phase === 'approval' && event.asked !== null) return [];
  const point = pointOf[event.phase];
  return point === undefined ? [] : [point];
}
