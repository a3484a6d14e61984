import { expect, test } from 'vitest';
import { titled } from '../../../cite.ts';
import { calling } from '../../../table.ts';
import { ask, left, say } from '../asking.ts';
import { blocked, json, type Row, specific, spellings, stock, tool } from '../rows.ts';

const toolRows: readonly Row[] = [
  ...calling(tool)`
    AO-7-10@oneshot | deny denies | ${specific({ permissionDecision: 'deny', permissionDecisionReason: 'no' })} | ${blocked}
    AO-7-10@oneshot | deny without a reason has a stock text | ${specific({ permissionDecision: 'deny' })} | deny "${stock}" [Blocked by hook] ${stock}
    AO-7-10@oneshot | the reason may stand shorter | ${specific({ permissionDecision: 'deny', reason: 'no' })} | ${blocked}
    AO-7-10@oneshot | the reason may stand at top level | ${json({ hookSpecificOutput: { permissionDecision: 'deny' }, reason: 'no' })} | ${blocked}
    AO-7-10@oneshot | ask asks | ${specific({ permissionDecision: 'ask', permissionDecisionReason: 'sure?' })} | ask "sure?"
    AO-7-10@oneshot | allow allows | ${specific({ permissionDecision: 'allow' })} | allow ""
    AO-7-10@oneshot | a decision of null is none | ${specific({ permissionDecision: null })} | allow ""
    AO-7-11@oneshot | defer asks, without what was said for now | ${specific({ permissionDecision: 'defer', updatedInput: { a: 1 }, additionalContext: 'x' })} | ask ""
    AO-7-38@oneshot | a container that can hold no word denies | ${specific('deny')} | deny REPLY_MALFORMED
    AO-7-12@oneshot | a blocking error beats an allow | ${json({ blockingError: 'no', hookSpecificOutput: { permissionDecision: 'allow' } })} | ${blocked}
    AO-7-13@oneshot | decision: block denies | ${json({ decision: 'block', reason: 'no' })} | ${blocked}
    AO-7-13@oneshot | decision: block beats an allow | ${json({ decision: 'block', reason: 'no', hookSpecificOutput: { permissionDecision: 'allow' } })} | ${blocked}
    AO-7-13@oneshot | decision: approve lifts no deny | ${json({ decision: 'approve', reason: 'no', hookSpecificOutput: { permissionDecision: 'deny' } })} | ${blocked}
    AO-7-13@oneshot | decision: approve allows | ${json({ decision: 'approve' })} | allow ""
    AO-7-38@oneshot | an unknown decision denies | ${json({ decision: 'ask' })} | deny REPLY_MALFORMED
    AO-7-13@oneshot | continue: false beats a deny | ${json({ continue: false, stopReason: 'enough', decision: 'block' })} | abort turn "enough"
    AO-7-13@oneshot | preventContinuation aborts | ${json({ preventContinuation: true, stopReason: 'enough' })} | abort turn "enough"
    AO-7-13@oneshot | new arguments stand beside an ask | ${specific({ permissionDecision: 'ask', updatedInput: { a: 1 } })} | ask "" {"args":{"a":1}}
    AO-7-13@oneshot | new arguments do not stand beside a deny | ${specific({ permissionDecision: 'deny', reason: 'no', updatedInput: { a: 1 } })} | ${blocked}
    AO-7-14@oneshot | contexts of both places are given | ${json({ additionalContext: ['b'], hookSpecificOutput: { additionalContext: 'a' } })} | allow "" ["a","b"]
    AO-7-15@oneshot | text is not given to the model | ${left('all fine')} | allow ""
    AO-7-15@oneshot | an array is not given to the model | ${left('["x"]')} | allow ""
    AO-7-18@oneshot | a deny counts at exit 1 | ${left('{"hookSpecificOutput":{"permissionDecision":"deny","reason":"no"}}', { exit: 1 })} | ${blocked}
    AO-7-18@oneshot | an allow counts at exit 1 | ${left('{"hookSpecificOutput":{"permissionDecision":"allow"}}', { exit: 1 })} | allow ""
    AO-7-18@oneshot | new arguments count at exit 1 | ${left('{"hookSpecificOutput":{"updatedInput":{}}}', { exit: 1 })} | modify "" {"args":{}}
    AO-7-16@oneshot | an object behind a banner that denies nothing mends no bad exit | ${left('hi\n{"a":1}', { exit: 1 })} | allow "" agentao.exit_nonzero
    AO-7-10@oneshot | an object without an answer passes | ${json({})} | allow ""
  `,
  ...['block', 'Deny', 'yes', true, 1, {}].map((word) =>
    tool(
      'AO-7-11@oneshot AO-7-38@oneshot',
      `the word ${JSON.stringify(word)} denies`,
      specific({ permissionDecision: word }),
      'deny REPLY_MALFORMED',
    ),
  ),
  ...spellings.map((value) =>
    tool('AO-7-12@oneshot AO-7-01@oneshot', `${JSON.stringify(value)} blocks`, json(value), blocked),
  ),
  tool(
    'AO-7-13@oneshot',
    'continue: false aborts, even beside an allow',
    json({ continue: false, stopReason: 'enough', hookSpecificOutput: { permissionDecision: 'allow' } }),
    'abort turn "enough"',
  ),
  tool(
    'AO-7-13@oneshot',
    'new arguments keep their bytes',
    left('{"hookSpecificOutput":{"updatedInput":{ "n":12345678901234567890}}}'),
    'modify "" {"args":{ "n":12345678901234567890}}',
  ),
  ...['"x"', '[]', '1'].map((input) =>
    tool(
      'AO-7-13@oneshot',
      `arguments of ${input} deny`,
      left(`{"hookSpecificOutput":{"updatedInput":${input}}}`),
      'deny REPLY_MALFORMED',
    ),
  ),
  ...['', 'text', '{}', '{"continue":true}', '{"x":1}'].flatMap((stdout) =>
    [1, 2, null].map((exit) =>
      tool(
        'AO-7-16@oneshot',
        `exit ${exit} with ${JSON.stringify(stdout)} passes by its rule`,
        left(stdout, { exit, stderr: 'no' }),
        'allow "" agentao.exit_nonzero',
      ),
    ),
  ),
  ...[0, 1].map((exit) =>
    tool(
      'AO-7-41@oneshot',
      `a deny behind a banner denies at exit ${exit}`,
      left('hi\n{"hookSpecificOutput":{"permissionDecision":"deny","reason":"no"}}', { exit }),
      blocked,
    ),
  ),
];

test.each(titled(toolRows))('$title', ({ point, reply, means }) => {
  expect(say(ask({ point, reply }))).toBe(means);
});
