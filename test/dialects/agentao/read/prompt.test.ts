import { expect, test } from 'vitest';
import { titled } from '../../../cite.ts';
import { calling } from '../../../table.ts';
import { ask, left, say } from '../asking.ts';
import { blocked, empties, json, prompt, type Row, specific, spellings, stock, stopped } from '../rows.ts';

const promptRows: readonly Row[] = [
  ...calling(prompt)`
    AO-7-02@oneshot | a blocking error of null is absent | ${json({ blockingError: null })} | allow ""
    AO-7-02@oneshot | a blocking error that is no text is shown as it is | ${json({ blockingError: [1] })} | deny "[1]" [Blocked by hook] [1]
    AO-7-04@oneshot | preventContinuation of false passes | ${json({ preventContinuation: false })} | allow ""
    AO-7-40@oneshot | a record of a stop stops | ${json({ attachment_type: 'hook_stopped_continuation', payload: { reason: 'enough' } })} | ${stopped}
    AO-7-40@oneshot | a record of success passes | ${json({ attachment_type: 'hook_success' })} | allow ""
    AO-7-40@oneshot | a record of a context is context | ${json({ attachment_type: 'hook_additional_context', payload: { context: 'a' } })} | allow "" ["a"]
    AO-7-40@oneshot AO-7-38@oneshot | a record of an unknown type denies | ${json({ attachment_type: 'x' })} | deny REPLY_MALFORMED
    AO-7-05@oneshot | a context is given | ${json({ additionalContext: 'a' })} | allow "" ["a"]
    AO-7-05@oneshot | contexts keep their order | ${json({ additionalContext: ['b', 'a', 1] })} | allow "" ["b","a","1"]
    AO-7-05@oneshot | the snake_case list is read | ${json({ additional_contexts: ['a'] })} | allow "" ["a"]
    AO-7-06@oneshot | a block comes before contexts | ${json({ additionalContext: 'a', blockingError: 'no' })} | ${blocked}
    AO-7-06@oneshot | a block comes before a stop | ${json({ preventContinuation: true, stopReason: 'enough', decision: 'block', reason: 'no' })} | ${blocked}
    AO-7-06@oneshot | a stop comes before contexts | ${json({ additionalContext: 'a', continue: false, stopReason: 'enough' })} | ${stopped}
    AO-7-07@oneshot | Claude’s block denies | ${json({ decision: 'block', reason: 'no' })} | ${blocked}
    AO-7-07@oneshot | decision: deny is a block | ${json({ decision: 'deny', reason: 'no' })} | ${blocked}
    AO-7-07@oneshot | Claude’s continue: false stops | ${json({ continue: false, stopReason: 'enough' })} | ${stopped}
    AO-7-07@oneshot | Claude’s context is given | ${specific({ additionalContext: 'a' })} | allow "" ["a"]
    AO-7-38@oneshot | an unknown decision denies | ${json({ decision: 'nope' })} | deny REPLY_MALFORMED
    AO-7-38@oneshot | a continue that is no boolean denies | ${json({ continue: 'false' })} | deny REPLY_MALFORMED
    AO-7-08@oneshot | an array is context | ${left('[1, 2]')} | allow "" ["[1, 2]"]
    AO-7-08@oneshot | a number is context | ${left('7')} | allow "" ["7"]
    AO-7-08@oneshot | a string is context without its quotes | ${left('"a b"')} | allow "" ["a b"]
    AO-7-08@oneshot | JSON behind a banner that denies nothing is text | ${left('hi\n{"additionalContext":"a"}')} | ${'allow "" ["hi\\n{\\"additionalContext\\":\\"a\\"}"]'}
    AO-7-08@oneshot | an unknown word behind a banner is text | ${left('hi\n{"decision":"no"}')} | ${'allow "" ["hi\\n{\\"decision\\":\\"no\\"}"]'}
    AO-7-08@oneshot | a list of what is no record is context | ${left('[{"blockingError":"no"}]')} | ${'allow "" ["[{\\"blockingError\\":\\"no\\"}]"]'}
    AO-7-41@oneshot | a block over several lines blocks | ${left(`hi\n{"a":1}\n{ no\n${JSON.stringify({ decision: 'block', reason: 'no' }, null, 2)}\nbye`)} | ${blocked}
    AO-7-41@oneshot | a block after many lines that only begin like one blocks | ${left(`${'{\n'.repeat(1000)}{"blockingError":"no"}`)} | ${blocked}
    AO-6-08@oneshot | bytes that are no character are replaced | ${left(Uint8Array.of(0x61, 0xff))} | allow "" ["a�"]
    AO-7-01@oneshot | a byte order mark hides no block | ${left('\ufeff{"blockingError":"no"}')} | ${blocked}
    AO-7-08@oneshot | silence passes | ${left('')} | allow ""
  `,
  ...spellings.map((value) =>
    prompt('AO-7-01@oneshot AO-7-03@oneshot', `${JSON.stringify(value)} blocks`, json(value), blocked),
  ),
  ...empties.map((value) =>
    prompt(
      'AO-7-02@oneshot',
      `a blocking error of ${JSON.stringify(value)} blocks`,
      json({ blockingError: value }),
      `deny "${stock}" [Blocked by hook] ${stock}`,
    ),
  ),
  prompt(
    'AO-7-02@oneshot',
    'a null in a record of a blocking error still blocks',
    json({ attachment_type: 'hook_blocking_error', payload: { error: null } }),
    `deny "${stock}" [Blocked by hook] ${stock}`,
  ),
  ...[true, 1, 'yes'].map((value) =>
    prompt(
      'AO-7-04@oneshot',
      `preventContinuation of ${JSON.stringify(value)} stops`,
      json({ preventContinuation: value, stopReason: 'enough' }),
      stopped,
    ),
  ),
  prompt(
    'AO-7-04@oneshot',
    'a stop without a reason has a stock text',
    json({ prevent_continuation: true }),
    'deny "Hook prevented continuation" [Hook stopped] Hook prevented continuation',
  ),
  ...[0, 1, 2].map((exit) =>
    prompt(
      'AO-7-08@oneshot',
      `text is context at exit ${exit}`,
      left(' hello\n', { exit }),
      'allow "" ["hello"]',
    ),
  ),
  ...spellings.map((value) =>
    prompt(
      'AO-7-41@oneshot',
      `${JSON.stringify(value)} behind a banner blocks`,
      left(`hi\n ${JSON.stringify(value)}\nbye`),
      blocked,
    ),
  ),
  prompt(
    'AO-7-41@oneshot',
    'a record of a block in a list blocks',
    json([
      { attachment_type: 'hook_success', payload: {} },
      { attachment_type: 'hook_blocking_error', payload: { error: 'no' } },
    ]),
    blocked,
  ),
  ...[1, 2, 127, null].map((exit) =>
    prompt(
      'AO-7-09@oneshot',
      `exit ${exit} without output passes by its rule`,
      left(' \n', { exit, stderr: 'no' }),
      'allow "" agentao.exit_nonzero',
    ),
  ),
];

test.each(titled(promptRows))('$title', ({ point, reply, means }) => {
  expect(say(ask({ point, reply }))).toBe(means);
});
