import { type Ending, harmless, processClass } from '../ending.ts';
import type { Fault, FaultClass } from '../fault.ts';
import type { Target } from '../targets.ts';
import { misbehaving } from './misbehaving.ts';

const isServer = ({ transport }: Target) => transport === 'server';
const isNoServer = (target: Target) => !isServer(target);
const noise = processClass({ by: 'noise' });
const mebi = 1024 * 1024;
const eightMiB = `${8 * mebi}`;

const large = { text: 'x'.repeat(60_000_000), isHeavy: true } as const;
const isLarge = (target: Target) => isNoServer(target) && target.dialect === 'promptkit';

export const streams: readonly Fault[] = [
  well('closes its stdin, and answers', ['asked', 'close-stdin']),
  well('closes its stderr, and answers', ['asked', 'close-stderr']),
  well('answers and never reads', ['before', 'unread'], { fits: isNoServer }),
  well('answers first, and reads then', ['before', 'unread-then-read'], { fits: isNoServer }),
  well('never reads a request of 60 MB, and answers', ['before', 'unread'], { ...large, fits: isLarge }),
  bad(
    'never reads a request of 60 MB',
    ['before', 'hang'],
    { by: 'hang', isUnread: true },
    { ...large, fits: isLarge, isTimed: true },
  ),
  well('floods stderr with 8 MiB, and answers', ['asked', 'flood-stderr', eightMiB], { isHeavy: true }),
  well('floods stderr with a line of 8 MiB, and answers', ['asked', 'flood-stderr-line', eightMiB], {
    isHeavy: true,
  }),
  bad(
    'floods stderr for ever',
    ['asked', 'flood-stderr-forever'],
    { by: 'hang' },
    { isHeavy: true, isTimed: true },
  ),
  stream('closes its stdout, and hangs', ['asked', 'close-stdout']),
  stream('closes stdout and stderr, and hangs', ['asked', 'close-outputs']),
  stream('closes all its streams, and hangs', ['asked', 'close-all']),
  bad('closes its stdout, and exits', ['asked', 'close-stdout-exit'], { by: 'quiet' }),
  bad('floods stdout with one line', ['asked', 'flood'], { by: 'flood' }),
  bad(
    'prints a line of 100 MiB, beyond its limit',
    ['asked', 'long-line', `${100 * mebi}`],
    { by: 'flood' },
    { isHeavy: true },
  ),
  within(
    'prints a line of 100 MiB that is no answer, within its limit',
    ['asked', 'long-line', `${100 * mebi}`],
    processClass({ by: 'quiet', printed: 'half' }),
  ),
  within('answers with 60 MB, within its limit', ['asked', 'long-reply', '60000000'], harmless),
  misbehaving('stream', 'floods stdout with lines', {
    deed: ['asked', 'flood-lines'],
    class: noise,
    isTimed: isServer,
    isHeavy: true,
  }),
  misbehaving('stream', 'floods both at once', {
    deed: ['asked', 'flood-both'],
    class: noise,
    isTimed: isServer,
    isHeavy: true,
  }),
];

type More = Partial<Pick<Fault, 'fits' | 'isHeavy' | 'isTimed' | 'text'>>;

function well(id: string, deed: readonly string[], more: More = {}): Fault {
  return misbehaving('stream', id, { deed, class: harmless, ...more });
}

function bad(id: string, deed: readonly string[], ending: Ending, more: More = {}): Fault {
  return misbehaving('stream', id, { deed, class: processClass(ending), ...more });
}

function within(id: string, deed: readonly string[], faultClass: FaultClass): Fault {
  const made = misbehaving('stream', id, { deed, class: faultClass, isHeavy: true });
  const settings = { max_output_bytes: 128 * mebi };
  return { ...made, child: (scene) => ({ ...made.child(scene), settings }) };
}

function stream(id: string, deed: readonly string[]): Fault {
  return misbehaving('stream', id, { deed, class: processClass({ by: 'close' }), isTimed: isNoServer });
}
