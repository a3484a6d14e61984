import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { answers, type HookEvent } from '../../../src/contract/hook.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { left, questionAt, say, specific, together } from './handler.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point: string;
  readonly replies: readonly (Reply | RuntimeError)[];
  readonly means: string;
}

const pre = (members: object) => left(specific('PreToolUse', { ...members }));
const decide = (permissionDecision: string, members: object = {}) => pre({ permissionDecision, ...members });
const approve = (members: object = {}) =>
  left(specific('PermissionRequest', { decision: { behavior: 'allow', ...members } }));
const reject = left(specific('PermissionRequest', { decision: { behavior: 'deny', message: 'no' } }));
const block = (reason: string) => left(JSON.stringify({ decision: 'block', reason }));
const silent = left();
const reason = (permissionDecisionReason: string) => ({ permissionDecisionReason });

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | point | replies | means
  a rewrite survives silence | CC-7-07 | PreToolUse | ${[pre({ updatedInput: { a: 1 } }), silent]} | h1 modify {"args":{"a":1}}
  continue false beats all | CC-7-01 | PreToolUse | ${[decide('deny'), left('{"continue":false,"stopReason":"end"}')]} | h2 abort "end"
  messages stand below one another | CC-7-04 | PreToolUse | ${[left('{"systemMessage":"a"}'), left('{"systemMessage":"b"}')]} | ${'- allow #{"system_message":"a\\nb"}'}
  nobody approves | CC-7-13 | PermissionRequest | ${[]} | - ask
  silence approves nothing | CC-7-13 | PermissionRequest | ${[silent]} | - ask
  one approval suffices, on record as its hook’s | CC-7-13 | PermissionRequest | ${[silent, approve(), silent]} | h2 allow
  an approval changes the call | CC-7-13 | PermissionRequest | ${[approve(), approve({ updatedInput: { a: 1 } })]} | h2 modify {"args":{"a":1}}
  a rejection beats an approval | CC-7-13 | PermissionRequest | ${[approve(), reject]} | h2 deny "no"
  continue false beats blocks | CC-8-05 | Stop | ${[block('a'), left('{"continue":false}')]} | ${'h2 abort "Stop hook \\"h2\\" ended the turn without a message"'}
  silence ends the turn | CC-8-01 | Stop | ${[silent]} | - allow
`,
  {
    title: 'deny beats ask and defer, and keeps all contexts',
    cites: 'CC-7-09',
    point: 'PreToolUse',
    replies: [
      decide('ask', { additionalContext: 'a' }),
      decide('deny', reason('no')),
      decide('defer'),
      decide('allow', { additionalContext: 'b' }),
    ],
    means: 'h2 deny "no" +["a","b"] #{"deferred":true}',
  },
  {
    title: 'defer beats ask and takes no rewrite',
    cites: 'CC-7-09 CC-7-06',
    point: 'PreToolUse',
    replies: [
      decide('ask', { ...reason('sure?'), updatedInput: { a: 1 } }),
      decide('defer', reason('later')),
    ],
    means: 'h2 ask "later" #{"deferred":true}',
  },
  {
    title: 'ask beats allow, of the rewritten call',
    cites: 'CC-7-09',
    point: 'PreToolUse',
    replies: [decide('allow', { updatedInput: { a: 1 } }), decide('ask', reason('sure?'))],
    means: 'h2 ask "sure?" {"args":{"a":1}}',
  },
  {
    title: 'the last rewrite wins, with a warning',
    cites: 'CC-7-10',
    point: 'PreToolUse',
    replies: [pre({ updatedInput: { a: 1 } }), pre({ updatedInput: { b: 2 } })],
    means:
      'h2 modify {"args":{"b":2}} #{"warnings":["several hooks replaced the arguments; \\"h2\\" is the last in the file and wins"]}',
  },
  {
    title: 'blocks and contexts are joined in file order',
    cites: 'CC-8-03 CC-8-01',
    point: 'Stop',
    replies: [block('a'), left(specific('Stop', { additionalContext: 'b' })), silent, block('c')],
    means: 'h4 modify {"follow_up":"a\\n\\nb\\n\\nc"}',
  },
  {
    title: 'a failure lifts no denial',
    cites: 'CC-9-01',
    point: 'UserPromptSubmit',
    replies: [block('a'), new RuntimeError('PROCESS_TIMEOUT', '')],
    means: 'h1 deny "a" #{"failed_open":{"hook":"h2","cause":"claude.timeout"}}',
  },
];

test.each(titled(rows))('$title', ({ point, replies, means }) => {
  const { hook, answer } = together(point, replies);
  expect(`${hook ?? '-'} ${say(answer)}`).toBe(means);
});

const call = { name: 'run', args: {}, call_id: 'c1' };
const response = { name: 'run', call_id: 'c1', content: '', error: '', latency_ms: 0 };
const after: HookEvent = { hook: 'tool', phase: 'after_execution', request: call, response };
const before: HookEvent = { hook: 'tool', phase: 'before_execution', request: call };
const approval: HookEvent = {
  hook: 'tool',
  phase: 'approval',
  request: call,
  asked: { hook: 'a', reason: 'sure?' },
};
const turn = {
  prompt: '',
  system_prompt: '',
  messages: [],
  tools: [],
  provider_id: '',
  model: '',
  options: {},
};
const batch: HookEvent = { hook: 'turn', phase: 'batch', turn, calls: [] };

test.each([
  [
    'contexts become reminders',
    before,
    answers.deny('no', { context: ['a', 'b'] }),
    'deny "no" +["<system-reminder>\\na\\n</system-reminder>","<system-reminder>\\nb\\n</system-reminder>"]',
  ],
  [
    'a new result becomes text',
    after,
    answers.modify({ content: { a: 1 } }),
    'modify {"content":"{\\"a\\":1}"}',
  ],
  ['a text stays one', after, answers.modify({ content: 'a' }), 'modify {"content":"a"}'],
  ['arguments stay', before, answers.modify({ args: { a: 1 } }), 'modify {"args":{"a":1}}'],
  ['a denied batch ends the turn', batch, answers.deny('no'), 'abort "no"'],
  ['a person who is still asked is no answer', approval, answers.ask(''), 'allow'],
])('%s [CC-5-05 CC-7-12 CC-7-13]', (_title, event, answer, means) => {
  expect(say(claude.toNeutralAnswer(event, questionAt('PreToolUse'), answer))).toBe(means);
});
