import { expect, test } from 'vitest';
import { titled } from '../../cite.ts';
import { left, posted, questionAt, readAt, type SeatChoice, say, sayAt, scene, specific } from './handler.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point?: string;
  /** All of stdout. */
  readonly says: string;
  readonly seat?: SeatChoice;
  readonly means: string;
}

const open = '#{"failed_open":{"hook":"guard","cause":"claude.bad_schema"}}';
const stock = (point: string, what = 'blocked') =>
  JSON.stringify(`${point} hook "guard" ${what} without a message`);
const pre = (members: object, top: object = {}) => specific('PreToolUse', { ...members }, top);
const asked = (decision: object) => specific('PermissionRequest', { decision });
const decided = (permissionDecision: unknown, members: object = {}) =>
  pre({ permissionDecision, ...members });

const tools: readonly Row[] = [
  { title: 'allow', cites: 'CC-7-05', says: decided('allow'), means: 'allow' },
  {
    title: 'deny with its reason',
    cites: 'CC-7-05',
    says: decided('deny', { permissionDecisionReason: 'no' }),
    means: 'deny "no"',
  },
  {
    title: 'ask with its reason and its file',
    cites: 'CC-7-05',
    says: decided('ask', { permissionDecisionReason: 'sure?', updatedInput: { command: 'ls -l' } }),
    seat: { source: '/p/.claude/settings.json' },
    means: 'ask "sure?" {"args":{"command":"ls -l"}} #{"source":"/p/.claude/settings.json"}',
  },
  {
    title: 'defer asks and changes nothing',
    cites: 'CC-7-06',
    says: decided('defer', { permissionDecisionReason: 'later', updatedInput: {}, additionalContext: 'c' }),
    means: 'ask "later" #{"deferred":true}',
  },
  {
    title: 'rewritten arguments keep their digits',
    cites: 'CC-7-07 CC-4-08',
    says: '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"n": 12345678901234567890}}}',
    means: 'modify {"args":{"n": 12345678901234567890}}',
  },
  {
    title: 'an allow rewrites too',
    cites: 'CC-7-07',
    says: decided('allow', { updatedInput: { a: 1 }, permissionDecisionReason: 'ok' }),
    means: 'modify "ok" {"args":{"a":1}}',
  },
  {
    title: 'a denial rewrites nothing',
    cites: 'CC-7-07',
    says: decided('deny', { updatedInput: { a: 1 } }),
    means: `deny ${stock('PreToolUse')}`,
  },
  ...['x', 1, [], null].map((updatedInput) => ({
    title: `the arguments ${JSON.stringify(updatedInput)} deny`,
    cites: 'CC-7-07',
    says: decided('allow', { updatedInput }),
    means: 'deny "its `updatedInput` is not an object"',
  })),
  { title: 'approve allows', cites: 'CC-6-15', says: '{"decision":"approve"}', means: 'allow' },
  {
    title: 'deny is read as block',
    cites: 'CC-6-15',
    says: '{"decision":"deny","reason":"r"}',
    means: 'deny "r"',
  },
  {
    title: 'hso wins over decision',
    cites: 'CC-7-08',
    says: pre({ permissionDecision: 'ask' }, { decision: 'approve' }),
    means: 'ask',
  },
  {
    title: 'a decision that denies wins over hso',
    cites: 'CC-7-08',
    says: pre({ permissionDecision: 'allow' }, { decision: 'block', reason: 'r' }),
    means: 'deny "r"',
  },
  ...['block', 'Allow', 'DENY', '', 1, null, true, {}].map((word) => ({
    title: `the permissionDecision ${JSON.stringify(word)} denies`,
    cites: 'CC-6-10',
    says: decided(word),
    means: `deny ${JSON.stringify(`its \`permissionDecision\` is no known verdict: ${JSON.stringify(word)}`)}`,
  })),
  {
    title: 'an unknown decision denies',
    cites: 'CC-6-10',
    says: '{"decision":"allow"}',
    means: 'deny "its `decision` is no known verdict: \\"allow\\"; Claude Code would let it pass"',
  },
  {
    title: 'a verdict that stands twice denies',
    cites: 'CC-6-10',
    says: '{"decision":"block","decision":"approve"}',
    means: 'deny REPLY_MALFORMED',
  },
  {
    title: 'defer is no word for a model switch',
    cites: 'CC-6-10',
    point: 'PreModelSwitch',
    says: specific('PreModelSwitch', { permissionDecision: 'defer' }),
    means: 'deny "its `permissionDecision` is no known verdict: \\"defer\\""',
  },
  {
    title: 'a model switch is asked about',
    cites: 'CC-7-05',
    point: 'PreModelSwitch',
    says: specific('PreModelSwitch', { permissionDecision: 'ask', permissionDecisionReason: 'dear' }),
    means: 'ask "dear"',
  },
  {
    title: 'approve is no decision about a model switch',
    cites: 'CC-6-15',
    point: 'PreModelSwitch',
    says: '{"decision":"approve"}',
    means: 'allow',
  },
];

const schema: readonly Row[] = [
  ...[
    '{"continue":"no"}',
    '{"stopReason":1}',
    '{"systemMessage":null}',
    '{"hookSpecificOutput":[]}',
    '{"hookSpecificOutput":{"permissionDecision":"allow"}}',
    specific('PostToolUse', { permissionDecision: 'allow' }),
    decided('allow', { additionalContext: 5 }),
    decided('allow', { updatedInput: {}, permissionDecisionReason: 5 }),
  ].map((says) => ({
    title: `${says} breaks the schema`,
    cites: 'CC-6-08 CC-6-09',
    says,
    means: `allow ${open}`,
  })),
  {
    title: 'a deny without hookEventName counts',
    cites: 'CC-6-09',
    says: '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}',
    means: 'deny "no"',
  },
  {
    title: 'an ask with wrong company counts alone',
    cites: 'CC-6-09',
    says: decided('ask', { permissionDecisionReason: 5, updatedInput: {} }),
    means: 'ask',
  },
  {
    title: 'a block with a wrong reason counts',
    cites: 'CC-6-09',
    says: '{"decision":"block","reason":["no"]}',
    means: `deny ${stock('PreToolUse')}`,
  },
  {
    title: 'a handler may echo its stdin',
    cites: 'CC-6-14',
    says: JSON.stringify(questionAt('PreToolUse').payload),
    means: 'allow',
  },
  {
    title: 'a permissionDecision after the call has no effect',
    cites: 'CC-6-14',
    point: 'PostToolUse',
    says: specific('PostToolUse', { permissionDecision: 'deny' }),
    means: 'allow',
  },
  {
    title: 'a decision at the start of a session has no effect',
    cites: 'CC-6-14',
    point: 'SessionStart',
    says: '{"decision":"block","reason":"r"}',
    means: 'allow',
  },
  {
    title: 'top-level additionalContext has no effect',
    cites: 'CC-7-03',
    point: 'UserPromptSubmit',
    says: '{"additionalContext":"c","suppressOutput":true}',
    means: 'allow',
  },
  {
    title: 'approve after the call is no decision',
    cites: 'CC-6-15',
    point: 'PostToolUse',
    says: '{"decision":"approve"}',
    means: 'allow',
  },
];

const universal: readonly Row[] = [
  {
    title: 'continue false ends the turn, even beside an allow',
    cites: 'CC-7-01',
    says: pre({ permissionDecision: 'allow' }, { continue: false, stopReason: 'enough' }),
    means: 'abort "enough"',
  },
  {
    title: 'continue false beats a denial',
    cites: 'CC-7-01',
    says: pre({ permissionDecision: 'deny' }, { continue: false }),
    means: `abort ${stock('PreToolUse', 'ended the turn')}`,
  },
  ...['TaskCreated', 'ConfigChange', 'PreCompact', 'Notification', 'SessionEnd'].map((point) => ({
    title: `continue false at ${point} is ignored`,
    cites: 'CC-7-02',
    point,
    says: '{"continue":false}',
    means: 'allow',
  })),
  {
    title: 'messages and terminal sequences are recorded',
    cites: 'CC-7-04',
    says: '{"systemMessage":"m","terminalSequence":"\\u0007"}',
    means: 'allow #{"system_message":"m","terminalSequence":"\\u0007"}',
  },
  {
    title: 'fields of a session’s start are recorded',
    cites: 'CC-5-06',
    point: 'SessionStart',
    says: specific('SessionStart', { additionalContext: 'c', sessionTitle: 't', watchPaths: ['/a'] }),
    means: 'allow +["c"] #{"sessionTitle":"t","watchPaths":["/a"]}',
  },
  {
    title: 'a prompt is blocked',
    cites: 'CC-5-01',
    point: 'UserPromptSubmit',
    says: '{"decision":"block","reason":"no"}',
    means: 'deny "no"',
  },
  {
    title: 'a batch is ended',
    cites: 'CC-5-01',
    point: 'PostToolBatch',
    says: '{"decision":"block","reason":"no"}',
    means: 'abort "no"',
  },
  {
    title: 'a denied call may be retried',
    cites: 'CC-5-08',
    point: 'PermissionDenied',
    says: specific('PermissionDenied', { retry: true }),
    means: 'modify {"retry":true}',
  },
  {
    title: 'a denied call is not retried',
    cites: 'CC-5-08',
    point: 'PermissionDenied',
    says: specific('PermissionDenied', { retry: false }),
    means: 'allow',
  },
  {
    title: 'displayed text is replaced',
    cites: 'CC-5-08',
    point: 'MessageDisplay',
    says: specific('MessageDisplay', { displayContent: 'x' }),
    means: 'modify {"displayContent":"x"}',
  },
  {
    title: 'paths are watched',
    cites: 'CC-5-08',
    point: 'CwdChanged',
    says: specific('CwdChanged', { watchPaths: ['/a'] }),
    means: 'modify {"watchPaths":["/a"]}',
  },
  {
    title: 'a message at DirectoryAdded is context',
    cites: 'CC-5-10',
    point: 'DirectoryAdded',
    says: '{"systemMessage":"m"}',
    means: 'allow +["m"] #{"system_message":"m"}',
  },
  {
    title: 'a handler in the background decides nothing',
    cites: 'CC-3-15',
    point: 'PostToolUse',
    says: specific(
      'PostToolUse',
      { additionalContext: 'c' },
      { decision: 'block', reason: 'r', continue: false },
    ),
    seat: { isAsync: true },
    means: 'allow +["c"]',
  },
];

const results: readonly Row[] = [
  {
    title: 'a block stands beside the result',
    cites: 'CC-7-11',
    point: 'PostToolUse',
    says: specific('PostToolUse', { additionalContext: 'c' }, { decision: 'block', reason: 'lint' }),
    means: 'allow +["lint","c"]',
  },
  {
    title: 'a result is replaced by one of its type',
    cites: 'CC-7-12',
    point: 'PostToolUse',
    says: specific('PostToolUse', { updatedToolOutput: { stdout: '***' } }),
    means: 'modify {"content":{"stdout":"***"}}',
  },
  {
    title: 'a result is replaced by a string',
    cites: 'CC-7-12',
    point: 'PostToolUse',
    says: specific('PostToolUse', { updatedMCPToolOutput: '***' }, { decision: 'block', reason: 'r' }),
    means: 'modify {"content":"***"} +["r"]',
  },
  ...[null, 1, true, []].map((updatedToolOutput) => ({
    title: `an object is not replaced by ${JSON.stringify(updatedToolOutput)}`,
    cites: 'CC-7-12',
    point: 'PostToolUse',
    says: specific('PostToolUse', { updatedToolOutput }),
    means: 'deny "its `updatedToolOutput` is neither a string nor of the type of the result"',
  })),
  {
    title: 'an unknown decision after the call breaks the schema',
    cites: 'CC-6-08',
    point: 'PostToolUse',
    says: '{"decision":"stop"}',
    means: `allow ${open}`,
  },
  {
    title: 'silence leaves the person asked',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    says: '',
    means: 'ask',
  },
  {
    title: 'a failure leaves the person asked',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    says: '{no}',
    seat: { onFailure: 'deny' },
    means: 'ask #{"failed_open":{"hook":"guard","cause":"claude.bad_json"}}',
  },
  {
    title: 'an approval',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    says: asked({ behavior: 'allow', updatedInput: { a: 1 }, updatedPermissions: [{ type: 'setMode' }] }),
    means: 'modify {"args":{"a":1}} #{"updatedPermissions":[{"type":"setMode"}]}',
  },
  {
    title: 'rules for later are recorded',
    cites: 'CC-7-14',
    point: 'PermissionRequest',
    says: asked({ behavior: 'allow', updatedPermissions: [] }),
    means: 'allow #{"updatedPermissions":[]}',
  },
  {
    title: 'a rejection',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    says: asked({ behavior: 'deny', message: 'no' }),
    means: 'deny "no"',
  },
  {
    title: 'a rejection that interrupts',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    says: asked({ behavior: 'deny', message: 'no', interrupt: true }),
    means: 'abort "no"',
  },
  {
    title: 'an unknown behavior',
    cites: 'CC-6-10',
    point: 'PermissionRequest',
    says: asked({ behavior: 'approve' }),
    means: 'deny "its `behavior` is no known verdict: \\"approve\\""',
  },
  {
    title: 'an approval of arguments that are none',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    says: asked({ behavior: 'allow', updatedInput: 'ls' }),
    means: 'deny "it answered with a `updatedInput` that is no object"',
  },
  {
    title: 'an approval that breaks the schema',
    cites: 'CC-7-13 CC-6-09',
    point: 'PermissionRequest',
    says: '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}',
    means: `ask ${open}`,
  },
  {
    title: 'an answer to a form',
    cites: 'CC-7-16',
    point: 'Elicitation',
    says: specific('Elicitation', { action: 'accept', content: { name: 'Ann' } }),
    means: 'respond {"action":"accept","content":{"name":"Ann"}}',
  },
  {
    title: 'an answer to a form that breaks the schema',
    cites: 'CC-6-09',
    point: 'Elicitation',
    says: specific('Elicitation', { action: 'accept', content: 'Ann' }),
    means: `allow ${open}`,
  },
  {
    title: 'a refused form that breaks the schema',
    cites: 'CC-6-09',
    point: 'Elicitation',
    says: specific('Elicitation', { action: 'decline', content: 'Ann' }),
    means: 'respond {"action":"decline"}',
  },
  {
    title: 'a new result in an answer that breaks the schema',
    cites: 'CC-6-09',
    point: 'PostToolUse',
    says: specific('PostToolUse', { updatedToolOutput: 1, additionalContext: 5 }),
    means: `allow ${open}`,
  },
  {
    title: 'an unknown answer to a form',
    cites: 'CC-6-10',
    point: 'ElicitationResult',
    says: specific('ElicitationResult', { action: 'agree' }),
    means: 'deny "its `action` is no known verdict: \\"agree\\""',
  },
  {
    title: 'the last line is the path of a worktree',
    cites: 'CC-7-15',
    point: 'WorktreeCreate',
    says: 'making…\n\u001b[32m/w/a\u001b[0m\n\n',
    means: 'respond {"path":"/w/a"}',
  },
  {
    title: 'a worktree without a path',
    cites: 'CC-7-15',
    point: 'WorktreeCreate',
    says: '',
    means: 'deny "it named no path"',
  },
  {
    title: 'a worktree path that climbs',
    cites: 'CC-7-15',
    point: 'WorktreeCreate',
    says: '/w/../a',
    means: 'deny "its path has \\".\\" or \\"..\\": /w/../a"',
  },
];

const stops: readonly Row[] = [
  {
    title: 'a block makes the turn go on',
    cites: 'CC-8-01',
    says: '{"decision":"block","reason":"test first"}',
    means: 'modify {"follow_up":"test first"}',
  },
  {
    title: 'a block without a reason makes the turn go on',
    cites: 'CC-8-04',
    says: '{"decision":"block"}',
    means: 'modify {"follow_up":"Stop hook \\"guard\\" blocked without a message"}',
  },
  {
    title: 'continue false beats a block',
    cites: 'CC-8-05',
    says: '{"continue":false,"decision":"block","reason":"go on"}',
    means: `abort ${stock('Stop', 'ended the turn')}`,
  },
  {
    title: 'an unknown decision withholds the answer',
    cites: 'CC-6-10',
    says: '{"decision":"stop"}',
    means: 'deny "its `decision` is no known verdict: \\"stop\\""',
  },
].map((row) => ({ ...row, point: 'Stop' }));

const rows = [...tools, ...schema, ...universal, ...results, ...stops];

test.each(titled(rows))('$title', ({ point = 'PreToolUse', says, seat, means }) => {
  expect(sayAt(point, left(says), seat)).toBe(means);
});

const effects: readonly (readonly [string, string])[] = [
  ['UserPromptSubmit', 'deny "no"'],
  ['UserPromptExpansion', 'deny "no"'],
  ['PreToolUse', 'deny "no"'],
  ['PermissionRequest', 'ask'],
  ['PermissionDenied', 'allow'],
  ['PostToolUse', 'allow +["no"]'],
  ['PostToolUseFailure', 'allow +["no"]'],
  ['PostToolBatch', 'abort "no"'],
  ['Notification', 'allow'],
  ['MessageDisplay', 'allow'],
  ['SessionStart', 'allow'],
  ['SubagentStop', 'modify {"follow_up":"no"}'],
  ['TaskCreated', 'deny "no"'],
  ['TaskCompleted', 'deny "no"'],
  ['Stop', 'modify {"follow_up":"no"}'],
  ['TeammateIdle', 'modify {"follow_up":"no"}'],
  ['ConfigChange', 'deny "no"'],
  ['WorktreeCreate', 'deny "no"'],
  ['PreCompact', 'deny "no"'],
  ['PreModelSwitch', 'deny "no"'],
  ['Elicitation', 'deny "no"'],
  ['ElicitationResult', 'respond "no" {"action":"decline"}'],
  ['SessionEnd', 'allow'],
];

test.each(effects)('%s: exit code 2 is %s [CC-5-01 CC-7-11 CC-7-16 CC-8-01]', (point, means) => {
  expect(sayAt(point, left('', { exitCode: 2, stderr: 'no\n' }))).toBe(means);
});

const silent: readonly (readonly [point: string, says: string, exitCode: number, means: string])[] = [
  ['PreToolUse', '', 2, `deny ${stock('PreToolUse')}`],
  ['UserPromptSubmit', ' ', 2, `deny ${stock('UserPromptSubmit')}`],
  ['PostToolBatch', '', 2, `abort ${stock('PostToolBatch')}`],
  ['UserPromptSubmit', '{"decision":"block"}', 0, `deny ${stock('UserPromptSubmit')}`],
  ['UserPromptSubmit', '{"continue":false}', 0, `abort ${stock('UserPromptSubmit', 'ended the turn')}`],
  ['PermissionRequest', asked({ behavior: 'deny' }), 0, `deny ${stock('PermissionRequest')}`],
];

test.each(silent)(
  '%s: a refusal by %j and exit %i has a reason [CC-6-17]',
  (point, says, exitCode, means) => {
    expect(sayAt(point, left(says, { exitCode }))).toBe(means);
  },
);

const strays: readonly (readonly [point: string, says: unknown, names: string])[] = [
  ['PreToolUse', { permissionDecision: 'deny' }, '"permissionDecision": …'],
  ['PreToolUse', { hook_specific_output: { permissionDecision: 'deny' } }, '"permissionDecision": …'],
  ['UserPromptSubmit', { permissionDecision: 'deny' }, '"decision": "block"'],
  [
    'UserPromptSubmit',
    { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', permissionDecision: 'deny' } },
    '"decision": "block"',
  ],
  ['PermissionRequest', { permissionDecision: 'deny' }, 'decision.behavior'],
  ['Elicitation', { permissionDecision: 'deny' }, 'hookSpecificOutput.action'],
  ['TaskCompleted', { permissionDecision: 'deny' }, 'exit code 2'],
  ['SessionStart', { permissionDecision: 'deny' }, 'blocks nothing'],
];

test.each(strays)('%s: %j is warned of [CC-6-18]', (point, says, names) => {
  const { output, notes } = readAt(point, left(JSON.stringify(says)));
  expect(output.verdict).toBe(point === 'PermissionRequest' ? 'ask' : 'allow');
  expect(notes).toEqual([{ level: 'warn', message: expect.stringContaining(names) }]);
});

test('a decision in its place is not warned of [CC-6-18]', () => {
  expect(readAt('PreToolUse', left(decided('ask'))).notes).toEqual([]);
});

test('exit 2 is not honoured beside an approval [CC-7-13]', () => {
  const reply = left(asked({ behavior: 'allow' }), { exitCode: 2, stderr: 'no' });
  expect(sayAt('PermissionRequest', reply)).toBe('ask');
});

test.each([
  ['Elicitation', 'deny "no"'],
  ['ElicitationResult', 'respond "no" {"action":"decline"}'],
])('no answer to a form stands beside exit 2 at %s [CC-7-16]', (point, means) => {
  const reply = left(specific(point, { action: 'accept' }), { exitCode: 2, stderr: 'no' });
  expect(sayAt(point, reply)).toBe(means);
});

test('policy settings are not blocked [CC-5-09]', () => {
  const question = questionAt('ConfigChange', { source: 'policy_settings' });
  const { output } = readAt('ConfigChange', left('', { exitCode: 2, stderr: 'no' }), {}, question);
  expect(say(output)).toBe('allow');
});

test('a worktree over HTTP stands in the answer [CC-7-15]', () => {
  const body = specific('WorktreeCreate', { worktreePath: '/w' });
  expect([200, 500].map((status) => sayAt('WorktreeCreate', posted(status, body)))).toEqual([
    'respond {"path":"/w"}',
    'deny "it answered with HTTP status 500"',
  ]);
});

test.each([
  ['a block', left('{"decision":"block","reason":"more"}')],
  ['exit code 2', left('', { exitCode: 2, stderr: 'more' })],
  ['context', left(specific('Stop', { additionalContext: 'more' }))],
])('%s goes on below the cap and not at it [CC-8-02]', (_title, reply) => {
  const after = (stops: number, stopCap: number) =>
    say(readAt('Stop', reply, { stopCap }, questionAt('Stop', {}, { ...scene, forcedTurns: stops })).output);
  const free = after(0, 8);
  const warned =
    'allow #{"warnings":["the turn has gone on 8 times in a row after its answer, and is not forced on again"]}';
  expect([free.includes('more'), after(7, 8), after(8, 8), after(99, 0)]).toEqual([true, free, warned, free]);
});
