import { processClass } from '../ending.ts';
import type { Fault } from '../fault.ts';
import type { Target } from '../targets.ts';
import { misbehaving } from './misbehaving.ts';

const hang = processClass({ by: 'hang' });
const unread = processClass({ by: 'hang', isUnread: true });
const within = processClass({ by: 'hang', printed: 'half' });
const after = processClass({ by: 'hang', printed: 'reply' });

/** A server's complete reply counts at once, so its limit must not be reached. */
const isNoServer = ({ transport }: Target) => transport !== 'server';

export const times: readonly Fault[] = [
  { ...time('hangs before it reads', ['before', 'hang'], unread), isUngreeted: true },
  time('hangs when it has read', ['asked', 'hang'], hang),
  time('hangs within its reply', ['half', 'hang'], within),
  time('hangs after its reply', ['after', 'hang'], after, isNoServer),
  time('hangs, deaf to SIGTERM', ['asked', 'deaf'], hang),
  time('hangs within its reply, deaf to SIGTERM', ['half', 'deaf'], within),
  time('runs in circles', ['asked', 'spin'], hang),
  time('stops itself', ['asked', 'signal', 'STOP'], hang),
  time('stops itself within its reply', ['half', 'signal', 'STOP'], within),
  time('answers late', ['asked', 'late', '20'], hang),
  time('dribbles a brace a second', ['asked', 'dribble'], hang),
  time('dribbles a blank a second', ['asked', 'dribble-spaces'], hang),
];

function time(
  id: string,
  deed: readonly string[],
  faultClass: Fault['class'],
  isTimed: Fault['isTimed'] = true,
): Fault {
  return misbehaving('time', id, { deed, class: faultClass, isTimed });
}
