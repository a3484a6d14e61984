import { expect, test } from 'vitest';
import { titled } from '../../../cite.ts';
import { calling } from '../../../table.ts';
import { ask, left, say } from '../asking.ts';
import { blocked, json, type Row, row, specific, spellings } from '../rows.ts';

const after = ['SessionStart', 'PostToolUse', 'PostToolUseFailure'].flatMap((point) => [
  row(
    'AO-7-31@oneshot',
    `${point}: contexts of both places count`,
    point,
    json({ additionalContext: ['b'], hookSpecificOutput: { additionalContext: 'a' } }),
    'allow "" ["a","b"]',
  ),
  row(
    point === 'SessionStart' ? 'AO-7-44@oneshot' : 'AO-7-33@oneshot',
    `${point}: continue: false`,
    point,
    json({ continue: false, stopReason: 'enough', additionalContext: 'a' }),
    point === 'SessionStart' ? 'allow "" ["a"]' : 'abort turn "enough" ["a"]',
  ),
  row(
    point === 'SessionStart' ? 'AO-7-44@oneshot' : 'AO-7-33@oneshot',
    `${point}: preventContinuation`,
    point,
    json({ preventContinuation: true, stopReason: 'enough' }),
    point === 'SessionStart' ? 'allow ""' : 'abort turn "enough"',
  ),
  row('AO-7-34@oneshot', `${point}: text is logged`, point, left('text'), 'allow ""'),
  row(
    'AO-7-35@oneshot',
    `${point}: a bad exit passes by its rule`,
    point,
    left('{}', { exit: 2 }),
    'allow "" agentao.exit_nonzero',
  ),
]);

const afterRows: readonly Row[] = [
  ...calling(row)`
    AO-7-32@oneshot | PostToolUse: a blocking error withholds the result | PostToolUse | ${json({ blockingError: 'no' })} | ${blocked}
    AO-7-32@oneshot | PostToolUseFailure: a blocking error aborts the turn | PostToolUseFailure | ${json({ blockingError: 'no' })} | abort turn "no"
    AO-7-39@oneshot | PostToolUse: a new text replaces the result | PostToolUse | ${specific({ updatedToolOutput: 'masked' })} | modify "" {"content":"masked"}
    AO-7-39@oneshot | PostToolUse: a new value of another type denies | PostToolUse | ${specific({ updatedToolOutput: [] })} | deny REPLY_MALFORMED
    AO-7-39@oneshot | PostToolUse: a new value of null denies | PostToolUse | ${specific({ updatedToolOutput: null })} | deny REPLY_MALFORMED
    AO-7-39@oneshot | PostToolUse: a block puts its reason beside the result | PostToolUse | ${json({ decision: 'block', reason: 'look' })} | allow "" ["look"]
    AO-7-38@oneshot | PostToolUse: an unknown decision denies | PostToolUse | ${json({ decision: 'nope' })} | deny REPLY_MALFORMED
  `,
  ...after,
  row(
    'AO-7-39@oneshot',
    'PostToolUse: a new value of the result’s type replaces it with its bytes',
    'PostToolUse',
    left('{"hookSpecificOutput":{"updatedMCPToolOutput":{ "n":12345678901234567890}}}'),
    'modify "" {"content":"{ \\"n\\":12345678901234567890}"}',
  ),
  ...['SessionEnd', 'PreCompact'].flatMap((point) =>
    [
      ...spellings,
      { decision: 'block' },
      { decision: 'nope' },
      { continue: false },
      { additionalContext: 'a' },
    ].map((value) =>
      row(
        'AO-7-30@oneshot',
        `${point}: ${JSON.stringify(value)} blocks nothing`,
        point,
        json(value),
        'allow ""',
      ),
    ),
  ),
  ...['SessionEnd', 'PreCompact'].map((point) =>
    row(
      'AO-7-30@oneshot',
      `${point}: exit 2 blocks nothing`,
      point,
      left('', { exit: 2 }),
      'allow "" agentao.exit_nonzero',
    ),
  ),
];

test.each(titled(afterRows))('$title', ({ point, reply, means }) => {
  expect(say(ask({ point, reply }))).toBe(means);
});
