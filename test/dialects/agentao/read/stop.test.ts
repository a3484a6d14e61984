import { expect, test } from 'vitest';
import { titled } from '../../../cite.ts';
import { calling } from '../../../table.ts';
import { ask, left, say } from '../asking.ts';
import { json, type Row, stop } from '../rows.ts';

const goOn = (text: string) => `modify ${JSON.stringify(text)} ${JSON.stringify({ follow_up: text })}`;
const requested = 'Stop hook requested continuation';

const stopRows: readonly Row[] = [
  ...calling(stop)`
    AO-7-19@oneshot | exit 2 forces with stderr | ${left('', { exit: 2, stderr: ' tests fail\n' })} | ${goOn('tests fail')}
    AO-7-19@oneshot | exit 2 without stderr has a stock text | ${left('', { exit: 2 })} | ${goOn('Stop hook blocked via exit 2')}
    AO-7-19@oneshot | JSON beside exit 2 is not read | ${left('{"continue":false,"blockingError":"no"}', { exit: 2, stderr: 'more' })} | ${goOn('more')}
    AO-7-20@oneshot | continue: false suppresses a block | ${json({ continue: false, decision: 'block', reason: 'more' })} | allow ""
    AO-7-20@oneshot | continue: false suppresses force_continue | ${json({ continue: false, force_continue: true })} | allow ""
    AO-7-20@oneshot | continue: false suppresses preventContinuation | ${json({ continue: false, preventContinuation: true })} | allow ""
    AO-7-21@oneshot | a block with a reason forces | ${json({ decision: 'block', reason: 'more' })} | ${goOn('more')}
    AO-7-21@oneshot | a block without a reason ends the turn | ${json({ decision: 'block' })} | allow ""
    AO-7-22@oneshot | force_continue forces | ${json({ force_continue: true, follow_up_message: 'more' })} | ${goOn('more')}
    AO-7-22@oneshot | forceContinue forces | ${json({ forceContinue: true, followUpMessage: 'more' })} | ${goOn('more')}
    AO-7-22@oneshot | force_continue without a text has a stock one | ${json({ force_continue: true })} | ${goOn(requested)}
    AO-7-22@oneshot | force_continue of false ends the turn | ${json({ force_continue: false, follow_up_message: 'more' })} | allow ""
    AO-7-23@oneshot | preventContinuation forces with stopReason | ${json({ preventContinuation: true, stopReason: 'more' })} | ${goOn('more')}
    AO-7-24@oneshot | a system message is a context | ${json({ systemMessage: 'note' })} | allow "" ["note"]
    AO-7-24@oneshot | a system_message is a context | ${json({ system_message: 'note' })} | allow "" ["note"]
    AO-7-25@oneshot | contexts of both places are given | ${json({ additionalContext: ['b'], hookSpecificOutput: { additionalContext: 'a' } })} | allow "" ["a","b"]
    AO-7-25@oneshot | text is a context | ${left('note', { exit: 1 })} | allow "" ["note"]
    AO-7-26@oneshot | a blocking error withholds | ${json({ blockingError: 'no' })} | deny "no" [Blocked by Stop hook] no
    AO-7-38@oneshot | an unknown decision denies | ${json({ decision: 'nope' })} | deny REPLY_MALFORMED
    AO-7-41@oneshot | a blocking error behind a banner withholds | ${left('hi\n{"blockingError":"no"}')} | deny "no" [Blocked by Stop hook] no
    AO-7-41@oneshot | a block behind a banner forces | ${left('hi\n{"decision":"block","reason":"more"}')} | ${goOn('more')}
    AO-7-19@oneshot | exit 2 comes before a blocking error behind a banner | ${left('hi\n{"blockingError":"no"}', { exit: 2, stderr: 'more' })} | ${goOn('more')}
    AO-7-25@oneshot | silence ends the turn | ${left('')} | allow ""
  `,
  stop(
    'AO-7-23@oneshot',
    'preventContinuation without stopReason has a stock text',
    json({ preventContinuation: true }),
    `modify "Hook prevented continuation" {"follow_up":"${requested}"}`,
  ),
  stop(
    'AO-7-26@oneshot',
    'a blocking error beats continue: false and a force',
    json({ blockingError: 'no', continue: false, force_continue: true }),
    'deny "no" [Blocked by Stop hook] no',
  ),
  ...[1, 127, null].map((exit) =>
    stop(
      'AO-7-27@oneshot',
      `exit ${exit} without output passes by its rule`,
      left('', { exit }),
      'allow "" agentao.exit_nonzero',
    ),
  ),
];

test.each(titled(stopRows))('$title', ({ point, reply, means }) => {
  expect(say(ask({ point, reply }))).toBe(means);
});
