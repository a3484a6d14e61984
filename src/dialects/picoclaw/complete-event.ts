import type { Scene } from '../../contract/turn.ts';
import type { Payload } from '../foreign.ts';
import { kindOf, severityOf } from './event-form.ts';
import { fillIn, invalid, isAnything, isMembers, isText } from './given.ts';
import { plain } from './json-parts.ts';
import { toContext, toMeta, toScope } from './wire/context.ts';

/** A legacy event as a host hands it in; `Kind` or `KindName` must name a kind that has that form. Throws EVENT_INVALID. */
export function completeEvent(given: Payload, scene: Scene): Payload {
  const kind = kindOf(given);
  if (kind?.legacy === undefined) throw invalid('event', 'has no known `Kind` or `KindName`');
  return fillIn('event', given, {
    members: {
      id: isText,
      Kind: isAnything,
      KindName: isText,
      Time: isText,
      Meta: isMembers,
      Context: isMembers,
      Payload: isMembers,
    },
    defaults: {
      id: `evt-${scene.turn_id}-${scene.round}-${kind.legacy}`,
      Kind: kind.number,
      KindName: kind.legacy,
      Time: scene.now,
      Meta: toMeta(scene, ''),
      Context: toContext(scene).context,
      Payload: {},
    },
  });
}

/** An event of the newer form as a host hands it in; `kind` must be known. Throws EVENT_INVALID. */
export function completeRuntimeEvent(given: Payload, scene: Scene): Payload {
  const kind = kindOf({ kind: given['kind'] });
  if (kind === undefined) throw invalid('runtime_event', 'has no known `kind`');
  const { agent, session_id, turn_id } = scene;
  const payload = plain(given['payload']);
  return fillIn('runtime_event', given, {
    members: {
      id: isText,
      kind: isText,
      time: isText,
      source: isMembers,
      scope: isMembers,
      correlation: isMembers,
      severity: isText,
      payload: isMembers,
      attrs: isMembers,
    },
    defaults: {
      id: `evt-${turn_id}-${scene.round}-${kind.dotted}`,
      kind: kind.dotted,
      time: scene.now,
      source: { component: kind.dotted.split('.')[0], name: agent },
      scope: { agent_id: agent, session_key: session_id, turn_id, ...toScope(scene) },
      correlation: {},
      severity: severityOf(kind, typeof payload === 'object' && payload !== null ? { ...payload } : {}),
      payload: {},
      attrs: {},
    },
  });
}
