import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import { kindOf, severityOf } from './event-form.ts';
import { toPlainValue } from './json-parts.ts';
import { completeShape, invalid, isAny, isJsonObject, isText } from './payload-shape.ts';
import { toContext, toMeta, toScope } from './wire/context.ts';

/**
 * A legacy event from the host, with defaults; `Kind` or `KindName` must name a legacy kind. Throws
 * EVENT_INVALID.
 */
export function completeEvent(given: Payload, hookContext: HookContext): Payload {
  const kind = kindOf(given);
  if (kind?.legacy === undefined) throw invalid('event', 'has no known `Kind` or `KindName`');
  return completeShape('event', given, {
    members: {
      id: isText,
      Kind: isAny,
      KindName: isText,
      Time: isText,
      Meta: isJsonObject,
      Context: isJsonObject,
      Payload: isJsonObject,
    },
    defaults: {
      id: `evt-${hookContext.turn_id}-${hookContext.round}-${kind.legacy}`,
      Kind: kind.number,
      KindName: kind.legacy,
      Time: hookContext.now,
      Meta: toMeta(hookContext, ''),
      Context: toContext(hookContext).context,
      Payload: {},
    },
  });
}

/** A runtime event from the host, with defaults; `kind` must be known. Throws EVENT_INVALID. */
export function completeRuntimeEvent(given: Payload, hookContext: HookContext): Payload {
  const kind = kindOf({ kind: given['kind'] });
  if (kind === undefined) throw invalid('runtime_event', 'has no known `kind`');
  const { agent, session_id, turn_id } = hookContext;
  const payload = toPlainValue(given['payload']);
  return completeShape('runtime_event', given, {
    members: {
      id: isText,
      kind: isText,
      time: isText,
      source: isJsonObject,
      scope: isJsonObject,
      correlation: isJsonObject,
      severity: isText,
      payload: isJsonObject,
      attrs: isJsonObject,
    },
    defaults: {
      id: `evt-${turn_id}-${hookContext.round}-${kind.dotted}`,
      kind: kind.dotted,
      time: hookContext.now,
      source: { component: kind.dotted.split('.')[0], name: agent },
      scope: { agent_id: agent, session_key: session_id, turn_id, ...toScope(hookContext) },
      correlation: {},
      severity: severityOf(kind, typeof payload === 'object' && payload !== null ? { ...payload } : {}),
      payload: {},
      attrs: {},
    },
  });
}
