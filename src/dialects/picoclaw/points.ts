import type { HookEvent, Moment } from '../../contract/hook.ts';
import type { Point } from '../foreign.ts';

/** Hooks hand on what they made of it, and the first that stops it has decided. */
const asked: Point = { order: 'chain', isAsked: true, composition: { verdict: 'first' } };
const told: Point = { order: 'parallel', isAsked: false, composition: { verdict: 'first' } };

/** Every method without `hook.`; an event has two names for its two forms. */
export const points = {
  before_llm: asked,
  after_llm: asked,
  before_tool: asked,
  approve_tool: asked,
  after_tool: asked,
  event: told,
  runtime_event: told,
} as const satisfies Readonly<Record<string, Point>>;

export type PointName = keyof typeof points;

/** The points at which hooks answer with an action, and the methods that the hello can only name together. */
export const pairs = {
  before_llm: ['before_llm', 'after_llm'],
  after_llm: ['before_llm', 'after_llm'],
  before_tool: ['before_tool', 'after_tool'],
  after_tool: ['before_tool', 'after_tool'],
} as const;

export type ActionPoint = keyof typeof pairs;

export function isActionPoint(point: string): point is ActionPoint {
  return Object.hasOwn(pairs, point);
}

const byMoment: Readonly<Partial<Record<Moment, PointName>>> = {
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

/** The points that an event reaches; of a denied call only the denial is told. */
export function pointsAt(event: HookEvent): readonly PointName[] {
  if (event.phase === 'finished' && event.status === 'denied') return [];
  // What a hook asks is for a person to answer, not for those who must approve.
  if (event.phase === 'approval' && event.asked !== null) return [];
  const point = byMoment[event.phase];
  return point === undefined ? [] : [point];
}
