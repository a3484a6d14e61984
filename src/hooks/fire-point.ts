import type { Decision } from '../contract/hook.ts';
import { bareScene, type Scene } from '../contract/turn.ts';
import { type Composed, compose, type Spoken } from '../dialects/compose.ts';
import type { ForeignDialect, Payload } from '../dialects/foreign.ts';
import { invalidPayload } from '../dialects/invalid-payload.ts';
import { RuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';
import { findNearest } from '../yaml/suggest.ts';
import type { Group } from './group.ts';

/** A dialect's own point, as a host fires it. */
export interface PointEvent {
  readonly dialect: string;
  /** The dialect's own name for it. */
  readonly point: string;
  /** What the dialect puts on stdin, without what Signalbox adds itself. */
  readonly payload: unknown;
}

export interface Firing {
  /** The dialect of that name; undefined for any other name. */
  readonly find: (name: string) => ForeignDialect | undefined;
  readonly dialects: readonly string[];
  readonly groups: readonly Group[];
  readonly call: string;
  /** What payloads tell of the runtime, where the host leaves it out. */
  readonly host: Scene['host'];
  readonly signal?: AbortSignal | undefined;
  /** Told of each hook that is asked or told. */
  readonly onHear?: ((hook: string) => void) | undefined;
}

/**
 * Takes a point of one dialect through that dialect's hooks, composed by its own rules. Hooks of a point that asks
 * nobody are told, and it is allowed at once. Throws EVENT_INVALID.
 */
export async function firePoint(event: PointEvent, firing: Firing): Promise<Decision> {
  const dialect = requireDialect(event.dialect, firing);
  requirePoint(dialect, event.point);
  const { point } = event;
  const given = requirePayload(event);
  const { session_id: session } = given;
  const now = new Date().toISOString();
  const scene = {
    ...bareScene(typeof session === 'string' ? session : firing.call),
    now,
    host: firing.host,
  };
  const payload = dialect.complete(point, given, scene);
  const groups = firing.groups.filter((group) => group.dialect.name === dialect.name);
  if (dialect.points[point]?.isAsked === true) {
    return toDecision(dialect, await askGroups(groups, { dialect, point, payload, scene }, firing));
  }
  for (const group of groups) await group.tell(roundOf({ dialect, point, payload, scene }, firing));
  return toDecision(dialect, compose([], { verdict: 'first' }));
}

interface Fired {
  readonly dialect: ForeignDialect;
  readonly point: string;
  readonly payload: Payload;
  readonly scene: Scene;
}

function roundOf({ point, payload, scene }: Fired, { call, signal, onHear }: Firing) {
  return { point, payload, scene, call, kind: 'host', phase: point, signal, onHear } as const;
}

/** Each group sees what the last one made of the payload, until one does not let it pass. */
async function askGroups(groups: readonly Group[], fired: Fired, firing: Firing): Promise<Composed> {
  const { dialect, point, scene } = fired;
  const [only] = groups;
  if (groups.length === 1 && only !== undefined) return await only.ask(roundOf(fired, firing));
  const spoken: Spoken[] = [];
  let { payload } = fired;
  for (const group of groups) {
    const { hook, answer } = await group.ask(roundOf({ ...fired, payload }, firing));
    spoken.push({ hook: hook ?? '', answer });
    if (answer.verdict !== 'allow' && answer.verdict !== 'modify') break;
    payload = dialect.carry({ point, payload, scene }, answer);
  }
  const composed = compose(spoken, dialect.points[point]?.composition ?? { verdict: 'first' });
  return { ...composed, hook: composed.hook === '' ? null : composed.hook };
}

function toDecision({ name }: ForeignDialect, { hook, answer }: Composed): Decision {
  const { verdict, reason, metadata, context = [] } = answer;
  const error = verdict === 'deny' || verdict === 'abort' ? answer.error : undefined;
  return {
    verdict,
    hook,
    dialect: name,
    reason,
    enforced: false,
    replace:
      (verdict === 'modify' || verdict === 'ask') && answer.replace !== undefined ? answer.replace : null,
    result: verdict === 'respond' ? answer.result : null,
    context,
    abort: verdict === 'abort' ? answer.scope : null,
    metadata,
    ...(error && { error }),
  };
}

function requireDialect(name: string, { find, dialects }: Firing): ForeignDialect {
  const dialect = find(name);
  if (dialect !== undefined) return dialect;
  throw new RuntimeError('EVENT_INVALID', `there is no dialect "${name}" with points of its own`, {
    hint: `There are ${dialects.join(', ')}.`,
  });
}

function requirePoint({ name, points }: ForeignDialect, point: string): void {
  if (Object.hasOwn(points, point)) return;
  const known = Object.keys(points);
  const meant = findNearest(point, known);
  const hint = meant === undefined ? `It has ${known.join(', ')}.` : `Did you mean ${meant}?`;
  throw new RuntimeError('EVENT_INVALID', `${name} has no point "${point}"`, { hint });
}

function requirePayload({ dialect, point, payload = {} }: PointEvent): Payload {
  if (isObject(payload)) return payload;
  throw invalidPayload(`the payload of ${dialect} ${point} is not an object`);
}
