import { expect, test } from 'vitest';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { left, posted, questionAt, readAt, type SeatChoice, say, sayAt, scene, specific } from './handler.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point?: string;
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
  ...rowsOf<Row>`
  title | cites | point | says | seat | means
  allow | CC-7-05 |  | ${decided('allow')} |  | allow
  deny with its reason | CC-7-05 |  | ${decided('deny', { permissionDecisionReason: 'no' })} |  | deny "no"
  an allow rewrites too | CC-7-07 |  | ${decided('allow', { updatedInput: { a: 1 }, permissionDecisionReason: 'ok' })} |  | modify "ok" {"args":{"a":1}}
  a denial rewrites nothing | CC-7-07 |  | ${decided('deny', { updatedInput: { a: 1 } })} |  | deny ${stock('PreToolUse')}
  approve allows | CC-6-15 |  | {"decision":"approve"} |  | allow
  deny is read as block | CC-6-15 |  | {"decision":"deny","reason":"r"} |  | deny "r"
  hso wins over decision | CC-7-08 |  | ${pre({ permissionDecision: 'ask' }, { decision: 'approve' })} |  | ask
  a decision that denies wins over hso | CC-7-08 |  | ${pre({ permissionDecision: 'allow' }, { decision: 'block', reason: 'r' })} |  | deny "r"
  an unknown decision denies | CC-6-10 |  | {"decision":"allow"} |  | ${'deny "its `decision` is not a known verdict: \\"allow\\"; Claude Code would let it pass"'}
  a verdict that stands twice denies | CC-6-10 |  | {"decision":"block","decision":"approve"} |  | deny REPLY_MALFORMED
  a model switch is asked about | CC-7-05 | PreModelSwitch | ${specific('PreModelSwitch', { permissionDecision: 'ask', permissionDecisionReason: 'dear' })} |  | ask "dear"
  approve is no decision about a model switch | CC-6-15 | PreModelSwitch | {"decision":"approve"} |  | allow
`,
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
  ...['x', 1, [], null].map((updatedInput) => ({
    title: `the arguments ${JSON.stringify(updatedInput)} deny`,
    cites: 'CC-7-07',
    says: decided('allow', { updatedInput }),
    means: 'deny "its `updatedInput` is not an object"',
  })),
  ...['block', 'Allow', 'DENY', '', 1, null, true, {}].map((word) => ({
    title: `the permissionDecision ${JSON.stringify(word)} denies`,
    cites: 'CC-6-10',
    says: decided(word),
    means: `deny ${JSON.stringify(`its \`permissionDecision\` is not a known verdict: ${JSON.stringify(word)}`)}`,
  })),
  {
    title: 'defer is no word for a model switch',
    cites: 'CC-6-10',
    point: 'PreModelSwitch',
    says: specific('PreModelSwitch', { permissionDecision: 'defer' }),
    means: 'deny "its `permissionDecision` is not a known verdict: \\"defer\\""',
  },
];

const schema: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | point | says | means
  a deny without hookEventName counts | CC-6-09 |  | {"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}} | deny "no"
  an ask with wrong company counts alone | CC-6-09 |  | ${decided('ask', { permissionDecisionReason: 5, updatedInput: {} })} | ask
  a block with a wrong reason counts | CC-6-09 |  | {"decision":"block","reason":["no"]} | deny ${stock('PreToolUse')}
  a handler may echo its stdin | CC-6-14 |  | ${JSON.stringify(questionAt('PreToolUse').payload)} | allow
  a permissionDecision after the call has no effect | CC-6-14 | PostToolUse | ${specific('PostToolUse', { permissionDecision: 'deny' })} | allow
  a decision at the start of a session has no effect | CC-6-14 | SessionStart | {"decision":"block","reason":"r"} | allow
  top-level additionalContext has no effect | CC-7-03 | UserPromptSubmit | {"additionalContext":"c","suppressOutput":true} | allow
  approve after the call is no decision | CC-6-15 | PostToolUse | {"decision":"approve"} | allow
`,
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
];

const universal: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | point | says | seat | means
  continue false ends the turn, even beside an allow | CC-7-01 |  | ${pre({ permissionDecision: 'allow' }, { continue: false, stopReason: 'enough' })} |  | abort "enough"
  continue false beats a denial | CC-7-01 |  | ${pre({ permissionDecision: 'deny' }, { continue: false })} |  | abort ${stock('PreToolUse', 'ended the turn')}
  a prompt is blocked | CC-5-01 | UserPromptSubmit | {"decision":"block","reason":"no"} |  | deny "no"
  a batch is ended | CC-5-01 | PostToolBatch | {"decision":"block","reason":"no"} |  | abort "no"
  a denied call may be retried | CC-5-08 | PermissionDenied | ${specific('PermissionDenied', { retry: true })} |  | modify {"retry":true}
  a denied call is not retried | CC-5-08 | PermissionDenied | ${specific('PermissionDenied', { retry: false })} |  | allow
  displayed text is replaced | CC-5-08 | MessageDisplay | ${specific('MessageDisplay', { displayContent: 'x' })} |  | modify {"displayContent":"x"}
  paths are watched | CC-5-08 | CwdChanged | ${specific('CwdChanged', { watchPaths: ['/a'] })} |  | modify {"watchPaths":["/a"]}
  a message at DirectoryAdded is context | CC-5-10 | DirectoryAdded | {"systemMessage":"m"} |  | allow +["m"] #{"system_message":"m"}
`,
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
  ...rowsOf<Row>`
  title | cites | point | says | means
  a block stands beside the result | CC-7-11 | PostToolUse | ${specific('PostToolUse', { additionalContext: 'c' }, { decision: 'block', reason: 'lint' })} | allow +["lint","c"]
  an answer to a form | CC-7-16 | Elicitation | ${specific('Elicitation', { action: 'accept', content: { name: 'Ann' } })} | respond {"action":"accept","content":{"name":"Ann"}}
  an unknown answer to a form | CC-6-10 | ElicitationResult | ${specific('ElicitationResult', { action: 'agree' })} | ${'deny "its `action` is not a known verdict: \\"agree\\""'}
`,
  ...rowsOf<Row>`
  title | cites | point | says | seat | means
  a result is replaced by one of its type | CC-7-12 | PostToolUse | ${specific('PostToolUse', { updatedToolOutput: { stdout: '***' } })} |  | modify {"content":{"stdout":"***"}}
  an unknown decision after the call breaks the schema | CC-6-08 | PostToolUse | {"decision":"stop"} |  | allow ${open}
  silence leaves the person asked | CC-7-13 | PermissionRequest | ${''} |  | ask
  a failure leaves the person asked | CC-7-13 | PermissionRequest | {no} | ${{ onFailure: 'deny' }} | ask #{"failed_open":{"hook":"guard","cause":"claude.bad_json"}}
  rules for later are recorded | CC-7-14 | PermissionRequest | ${asked({ behavior: 'allow', updatedPermissions: [] })} |  | allow #{"updatedPermissions":[]}
  a rejection | CC-7-13 | PermissionRequest | ${asked({ behavior: 'deny', message: 'no' })} |  | deny "no"
  a rejection that interrupts | CC-7-13 | PermissionRequest | ${asked({ behavior: 'deny', message: 'no', interrupt: true })} |  | abort "no"
  an unknown behavior | CC-6-10 | PermissionRequest | ${asked({ behavior: 'approve' })} |  | ${'deny "its `behavior` is not a known verdict: \\"approve\\""'}
  an approval that breaks the schema | CC-7-13 CC-6-09 | PermissionRequest | {"hookSpecificOutput":{"decision":{"behavior":"allow"}}} |  | ask ${open}
  an answer to a form that breaks the schema | CC-6-09 | Elicitation | ${specific('Elicitation', { action: 'accept', content: 'Ann' })} |  | allow ${open}
  a refused form that breaks the schema | CC-6-09 | Elicitation | ${specific('Elicitation', { action: 'decline', content: 'Ann' })} |  | respond {"action":"decline"}
  a new result in an answer that breaks the schema | CC-6-09 | PostToolUse | ${specific('PostToolUse', { updatedToolOutput: 1, additionalContext: 5 })} |  | allow ${open}
  the last line is the path of a worktree | CC-7-15 | WorktreeCreate | ${'making…\n\u001b[32m/w/a\u001b[0m\n\n'} |  | respond {"path":"/w/a"}
  a worktree without a path | CC-7-15 | WorktreeCreate | ${''} |  | deny "it named no path"
  a worktree path that climbs | CC-7-15 | WorktreeCreate | /w/../a |  | ${'deny "its path has \\".\\" or \\"..\\": /w/../a"'}
`,
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
    title: 'an approval',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    says: asked({ behavior: 'allow', updatedInput: { a: 1 }, updatedPermissions: [{ type: 'setMode' }] }),
    means: 'modify {"args":{"a":1}} #{"updatedPermissions":[{"type":"setMode"}]}',
  },
  {
    title: 'an approval of arguments that are none',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    says: asked({ behavior: 'allow', updatedInput: 'ls' }),
    means: 'deny "it answered with a `updatedInput` that is not an object"',
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
    means: 'deny "its `decision` is not a known verdict: \\"stop\\""',
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

test.each(strays)('%s: %j causes a warning [CC-6-18]', (point, says, names) => {
  const { output, notes } = readAt(point, left(JSON.stringify(says)));
  expect(output.verdict).toBe(point === 'PermissionRequest' ? 'ask' : 'allow');
  expect(notes).toEqual([{ level: 'warn', message: expect.stringContaining(names) }]);
});

test('a decision in its place causes no warning [CC-6-18]', () => {
  expect(readAt('PreToolUse', left(decided('ask'))).notes).toEqual([]);
});

test('exit 2 is not honoured beside an approval [CC-7-13]', () => {
  const reply = left(asked({ behavior: 'allow' }), { exitCode: 2, stderr: 'no' });
  expect(sayAt('PermissionRequest', reply)).toBe('ask');
});

test.each([
  ['Elicitation', 'deny "no"'],
  ['ElicitationResult', 'respond "no" {"action":"decline"}'],
])('no answer to a form counts beside exit 2 at %s [CC-7-16]', (point, means) => {
  const reply = left(specific(point, { action: 'accept' }), { exitCode: 2, stderr: 'no' });
  expect(sayAt(point, reply)).toBe(means);
});

test('policy settings are not blocked [CC-5-09]', () => {
  const question = questionAt('ConfigChange', { source: 'policy_settings' });
  const { output } = readAt('ConfigChange', left('', { exitCode: 2, stderr: 'no' }), {}, question);
  expect(say(output)).toBe('allow');
});

test('a worktree over HTTP is in the answer [CC-7-15]', () => {
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
])('%s continues below the cap and not at it [CC-8-02]', (_title, reply) => {
  const after = (stops: number, stopCap: number) =>
    say(readAt('Stop', reply, { stopCap }, questionAt('Stop', {}, { ...scene, forcedTurns: stops })).output);
  const free = after(0, 8);
  const warned =
    'allow #{"warnings":["the turn was continued 8 times in a row after its answer, and is not continued again"]}';
  expect([free.includes('more'), after(7, 8), after(8, 8), after(99, 0)]).toEqual([true, free, warned, free]);
});
