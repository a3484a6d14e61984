import { harmless, processClass } from '../ending.ts';
import type { Fault, FaultClass } from '../fault.ts';
import { failure, open } from '../meaning.ts';
import { isForeign, type Target } from '../targets.ts';
import { misbehaving } from './misbehaving.ts';

const hang = processClass({ by: 'hang' });
const dead = processClass({ by: 'exit' });
const refused = processClass({ by: 'exit', isUnread: true });
const circuit: FaultClass = { name: 'circuit', means: () => failure('SERVER_CIRCUIT_OPEN') };

const unusable: FaultClass = {
  name: 'unusable answer',
  means: (target) => (isPassing(target) ? open('picoclaw.bad_result') : failure('REPLY_MALFORMED')),
};

/** An answer without a matching request. PicoClaw ignores it. */
const nameless: FaultClass = {
  name: 'answer without an id',
  means: (target) => (isForeign(target) ? hang.means(target) : failure('REPLY_MALFORMED')),
};

export const servers: readonly Fault[] = [
  server('answers twice', ['asked', 'twice'], { class: [harmless, harmless] }),
  server('answers with an id of the wrong type', ['asked', 'wrong-type'], { class: unusable }),
  server('answers with an id that nobody has', ['asked', 'unknown-id'], { class: hang, isTimed: true }),
  server('answers without an id', ['asked', 'no-id'], { class: nameless, isTimed: isForeign }),
  server('answers before it is asked', ['before', 'early'], {
    class: hang,
    isTimed: true,
    awaits: 'dropped',
    settings: { warm: true },
    fits: (target) => isServer(target) && !isForeign(target),
  }),
  server('sends a notification in place of an answer', ['asked', 'notification'], {
    class: hang,
    isTimed: true,
  }),
  server('sends a request in place of an answer', ['asked', 'request'], { class: hang, isTimed: true }),
  server('answers two in the wrong order', ['asked', 'reverse'], {
    class: [harmless, harmless],
    isTogether: true,
  }),
  server('answers one of two twice', ['asked', 'other'], {
    class: [harmless, hang],
    isTogether: true,
    settings: { timeout_ms: 6_000 },
  }),
  server('dies between calls', ['after', 'exit', '0'], {
    class: [harmless, harmless, harmless],
    isEnded: true,
  }),
  server('dies with three calls in flight', ['asked', 'swallow', '3'], {
    class: [dead, dead, dead],
    isTogether: true,
  }),
  server('dies at each start', ['before', 'exit', '1'], {
    class: [refused, refused, refused, refused, refused, circuit],
    isEnded: true,
  }),
];

type More = Pick<Fault, 'class'> &
  Partial<Pick<Fault, 'fits' | 'isTimed' | 'isTogether' | 'isEnded' | 'awaits'>>;

function server(id: string, deed: readonly string[], more: More & { readonly settings?: object }): Fault {
  const { settings, ...fault } = more;
  const made = misbehaving('server', id, { deed, fits: isServer, ...fault });
  return settings === undefined
    ? made
    : { ...made, child: (scene) => ({ ...made.child(scene), settings: { ...settings } }) };
}

function isServer({ transport }: Target): boolean {
  return transport === 'server';
}

function isPassing(target: Target): boolean {
  return isForeign(target) && target.point.name !== 'approve_tool';
}
