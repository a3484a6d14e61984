import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { findNearest } from '../../base/text/suggest.ts';
import { answers, type Decision } from '../../contract/hook.ts';
import { createHookContext, type HookContext } from '../../contract/turn.ts';
import { type Composed, type Composition, compose, type HookAnswer } from '../../dialects/compose.ts';
import type { ForeignDialect, Payload, Point } from '../../dialects/foreign-dialect.ts';
import { invalidPayload } from '../../dialects/payload-table.ts';
import type { Group } from './group.ts';
import { decisionOf } from './hook-chain.ts';

export interface PointEvent {
  readonly dialect: string;
  readonly point: string;
  /** The dialect's stdin payload without the members that Signalbox adds. */
  readonly payload: unknown;
}

export interface FirePointOptions {
  readonly find: (name: string) => ForeignDialect | undefined;
  readonly dialects: readonly string[];
  readonly groups: readonly Group[];
  readonly call: string;
  readonly host: HookContext['host'];
  readonly signal?: AbortSignal | undefined;
  readonly onHear?: ((hook: string) => void) | undefined;
}

/**
 * Passes a dialect's point through its hooks and composes their answers by the dialect's rules. A point that ignores
 * answers notifies the hooks and allows. Throws EVENT_INVALID.
 */
export async function firePoint(event: PointEvent, options: FirePointOptions): Promise<Decision> {
  const dialect = requireDialect(event.dialect, options);
  const { point } = event;
  const { isFilter, composition } = requirePoint(dialect, point);
  const given = requirePayload(event);
  const { session_id: session } = given;
  const now = new Date().toISOString();
  const hookContext = {
    ...createHookContext(typeof session === 'string' ? session : options.call),
    now,
    host: options.host,
  };
  const payload = dialect.complete(point, given, hookContext);
  const groups = options.groups.filter((group) => group.dialect.name === dialect.name);
  const fired = { dialect, point, composition, payload, hookContext };
  if (isFilter) {
    const { hook, answer } = await askGroups(groups, fired, options);
    return decisionOf({ hook, dialect: dialect.name }, answer);
  }
  for (const group of groups) await group.notify(hookCallOf(fired, options));
  return decisionOf({ hook: null, dialect: dialect.name }, answers.allow());
}

interface FiredPoint {
  readonly dialect: ForeignDialect;
  readonly point: string;
  readonly composition: Composition;
  readonly payload: Payload;
  readonly hookContext: HookContext;
}

function hookCallOf({ point, payload, hookContext }: FiredPoint, { call, signal, onHear }: FirePointOptions) {
  return { point, payload, hookContext, call, kind: 'host', phase: point, signal, onHear } as const;
}

async function askGroups(
  groups: readonly Group[],
  fired: FiredPoint,
  firing: FirePointOptions,
): Promise<Composed> {
  const { dialect, point, composition, hookContext } = fired;
  const [only] = groups;
  if (groups.length === 1 && only !== undefined) return await only.ask(hookCallOf(fired, firing));
  const hookAnswers: HookAnswer[] = [];
  let { payload } = fired;
  for (const group of groups) {
    const { hook, answer } = await group.ask(hookCallOf({ ...fired, payload }, firing));
    hookAnswers.push({ hook: hook ?? '', answer });
    if (answer.verdict !== 'allow' && answer.verdict !== 'modify') break;
    payload = dialect.nextPayload({ point, payload, hookContext }, answer);
  }
  const composed = compose(hookAnswers, composition);
  return { ...composed, hook: composed.hook === '' ? null : composed.hook };
}

function requireDialect(name: string, { find, dialects }: FirePointOptions): ForeignDialect {
  const dialect = find(name);
  if (dialect !== undefined) return dialect;
  throw new RuntimeError('EVENT_INVALID', `there is no dialect "${name}" with points of its own`, {
    hint: `Use one of ${dialects.join(', ')}.`,
  });
}

function requirePoint({ name, points }: ForeignDialect, point: string): Point {
  const found = Object.hasOwn(points, point) ? points[point] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(points);
  const meant = findNearest(point, known);
  const hint = meant === undefined ? `Its points are ${known.join(', ')}.` : `Did you mean ${meant}?`;
  throw new RuntimeError('EVENT_INVALID', `${name} has no point "${point}"`, { hint });
}

function requirePayload({ dialect, point, payload = {} }: PointEvent): Payload {
  if (isObject(payload)) return payload;
  throw invalidPayload(`the payload of ${dialect} ${point} is not an object`);
}
