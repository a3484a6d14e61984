import type { Outcome, Place, Vocabulary } from './outcome.ts';
import { isRecord, Members, type Reading, read } from './reading.ts';

interface Row {
  readonly payload: unknown;
  /** The older `decision` with `reason` is read. `unless` follows where a block does not deny. */
  readonly takesDecision?: true;
  readonly takesPermission?: true;
  readonly takesBehavior?: true;
  readonly takesAction?: true;
  /** `continue: false` has no effect. */
  readonly ignoresContinue?: true;
  /** The action is over or the turn goes on, so a block only adds a text. */
  readonly blocksBeside?: true;
  /** Members of `hookSpecificOutput` and their types. */
  readonly specific?: Readonly<Record<string, 'text' | 'object' | 'any'>>;
  readonly more?: readonly object[];
}

const text = { additionalContext: 'text' } as const;
const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } };

const rows: Readonly<Record<string, Row>> = {
  UserPromptSubmit: { payload: { prompt: 'hi' }, takesDecision: true, specific: text },
  UserPromptExpansion: { payload: { command_name: 'deploy' }, takesDecision: true, specific: text },
  PreToolUse: {
    payload: bash,
    takesDecision: true,
    takesPermission: true,
    specific: { ...text, permissionDecisionReason: 'text', updatedInput: 'object' },
    more: [
      { permissionDecision: 'allow', updatedInput: { command: 'pwd' } },
      { permissionDecision: 'ask', permissionDecisionReason: 'sure?' },
      { permissionDecision: 'defer' },
    ],
  },
  PermissionRequest: { payload: bash, takesBehavior: true },
  PostToolUse: {
    payload: { ...bash, tool_response: 'r' },
    takesDecision: true,
    blocksBeside: true,
    specific: { ...text, updatedToolOutput: 'any' },
    more: [{ updatedToolOutput: 'x' }],
  },
  PostToolBatch: { payload: { tool_calls: [] }, takesDecision: true, specific: text },
  Stop: { payload: {}, takesDecision: true, blocksBeside: true, specific: text },
  SubagentStop: {
    payload: { agent_type: 'Explore' },
    takesDecision: true,
    blocksBeside: true,
    specific: text,
  },
  TaskCreated: { payload: { task_id: '1', task_subject: 's' }, takesDecision: true, ignoresContinue: true },
  TaskCompleted: { payload: { task_id: '1', task_subject: 's' } },
  TeammateIdle: { payload: { teammate_name: 'ann' } },
  ConfigChange: { payload: { source: 'user_settings' }, takesDecision: true, ignoresContinue: true },
  PreCompact: { payload: { trigger: 'manual' }, takesDecision: true, ignoresContinue: true },
  PreModelSwitch: {
    payload: { from_model: 'a', to_model: 'b' },
    takesDecision: true,
    takesPermission: true,
    specific: { permissionDecisionReason: 'text' },
  },
  Elicitation: {
    payload: { mcp_server_name: 's', message: 'who?' },
    takesAction: true,
    specific: { content: 'object' },
  },
};

const told: readonly Place[] = [
  {
    point: 'SessionStart',
    payload: {},
    answers: ['{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"x"}}'],
  },
  {
    point: 'Notification',
    payload: { message: 'm', notification_type: 'idle_prompt' },
    answers: ['{"continue":false}'],
  },
  { point: 'SessionEnd', payload: {}, answers: ['{"decision":"block","reason":"no"}'] },
];

export const claude: Vocabulary = {
  dialect: 'claude',
  places: [
    ...Object.entries(rows).map(([point, row]) => ({
      point,
      payload: row.payload,
      answers: answersAt(point, row),
    })),
    ...told,
  ],
  expect(point, bytes, isClosed) {
    const row = rows[point];
    // Nothing is stopped there, but a duplicate member is still reported.
    if (row === undefined) return ['pass', 'change', 'open', 'deny'];
    const failed: readonly Outcome[] = row.takesBehavior
      ? ['ask', 'open ask', 'open', 'deny']
      : [isClosed ? 'deny' : 'open'];
    const { reading, isGarbled } = read(bytes);
    if (reading.kind === 'object')
      return expectOf(point, row, { members: new Members(reading.members), failed, isGarbled });
    return textMayBe(reading, row, failed);
  },
};

function answersAt(point: string, row: Row): string[] {
  const specific = (members: object) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName: point, ...members } });
  return [
    '{}',
    '{"continue":false,"stopReason":"enough"}',
    '{"suppressOutput":true,"systemMessage":"look"}',
    ...(row.takesDecision ? ['{"decision":"block","reason":"no"}'] : []),
    ...(row.takesPermission
      ? [
          specific({ permissionDecision: 'deny', permissionDecisionReason: 'no' }),
          specific({ permissionDecision: 'allow' }),
        ]
      : []),
    ...(row.takesBehavior
      ? [
          specific({ decision: { behavior: 'allow' } }),
          specific({ decision: { behavior: 'deny', message: 'no' } }),
        ]
      : []),
    ...(row.takesAction
      ? [specific({ action: 'accept', content: { a: 1 } }), specific({ action: 'decline' })]
      : []),
    ...('additionalContext' in (row.specific ?? {}) ? [specific({ additionalContext: 'x' })] : []),
    ...(row.more ?? []).map(specific),
  ];
}

/**
 * Empty output is success, and text goes to the log. A broken object is a failure, also on a later line; so may be
 * invalid bytes.
 */
function textMayBe(reading: Reading, row: Row, failed: readonly Outcome[]): readonly Outcome[] {
  const passing: readonly Outcome[] = row.takesBehavior ? ['ask'] : ['pass'];
  if (reading.kind !== 'text') return passing;
  const { text: printed } = reading;
  if (/^\0?\{/.test(printed)) return failed;
  return printed.split(/[\r\n]/).some((line) => line.trim().startsWith('{'))
    ? [...failed, ...passing]
    : passing;
}

interface Found {
  readonly members: Members;
  readonly failed: readonly Outcome[];
  readonly isGarbled: boolean;
}

function expectOf(point: string, row: Row, { members, failed, isGarbled }: Found): readonly Outcome[] {
  if (row.ignoresContinue !== true) {
    if (members.get('continue') === false) return ['deny'];
    if (members.times('continue') > 1) return ['deny', ...failed];
  }
  if (members.times('hookSpecificOutput') > 1) return ['deny', ...failed];
  const specific = members.inner('hookSpecificOutput');
  const said = [
    decisionOf(row, members),
    permissionOf(row, specific),
    behaviorOf(row, specific),
    actionOf(row, specific),
  ];
  if (said.includes('deny')) return ['deny'];
  const isWrong = isGarbled || !shapeFits(point, row, members);
  if (said.includes('ask')) return isWrong ? ['ask', 'open ask', ...failed] : ['ask'];
  if (said.includes('decline')) return isWrong ? ['change', ...failed] : ['change'];
  // Its block is reported but has no effect here.
  if (isWrong)
    return row.blocksBeside && members.has('decision')
      ? [...failed, 'pass', 'change']
      : [...failed, ...(said.includes('doubt') ? (['deny'] as const) : [])];
  if (row.blocksBeside && members.has('decision')) return ['pass', 'change', 'deny', 'open'];
  if (row.takesBehavior) return said.includes('allow') ? ['pass', 'change'] : ['ask'];
  return row.blocksBeside ? ['pass', 'change', 'deny'] : ['pass', 'change'];
}

type Said = 'allow' | 'ask' | 'deny' | 'decline' | 'doubt' | undefined;

function decisionOf(row: Row, members: Members): Said {
  if (!row.takesDecision || !members.has('decision')) return undefined;
  // A result cannot be stopped any more, and a turn that goes on is not stopped either.
  if (row.blocksBeside) return members.times('decision') > 1 ? 'deny' : undefined;
  return members.times('decision') > 1 || members.get('decision') !== 'approve' ? 'deny' : 'allow';
}

function permissionOf(row: Row, specific: Members | undefined): Said {
  if (!row.takesPermission || specific === undefined) return undefined;
  if (specific.times('permissionDecision') > 1 || specific.times('updatedInput') > 1) return 'deny';
  if (
    row.specific?.['updatedInput'] !== undefined &&
    specific.has('updatedInput') &&
    !isRecord(specific.get('updatedInput'))
  )
    return 'doubt';
  if (!specific.has('permissionDecision')) return undefined;
  const word = specific.get('permissionDecision');
  if (word === 'allow') return 'allow';
  return word === 'ask' || word === 'defer' ? 'ask' : 'deny';
}

function behaviorOf(row: Row, specific: Members | undefined): Said {
  if (!row.takesBehavior || specific === undefined) return undefined;
  const decision = specific.inner('decision');
  if (specific.times('decision') > 1 || (decision?.times('behavior') ?? 0) > 1) return 'deny';
  if (decision?.get('behavior') === 'allow') return 'allow';
  return specific.has('decision') ? 'deny' : undefined;
}

function actionOf(row: Row, specific: Members | undefined): Said {
  if (!row.takesAction || specific === undefined || !specific.has('action')) return undefined;
  if (specific.times('action') > 1) return 'deny';
  const word = specific.get('action');
  // A decline is a valid answer, not a failure.
  if (word === 'decline' || word === 'cancel') return 'decline';
  return word === 'accept' ? 'allow' : 'deny';
}

const universal = {
  continue: 'boolean',
  suppressOutput: 'boolean',
  stopReason: 'string',
  reason: 'string',
  systemMessage: 'string',
} as const;

function shapeFits(point: string, row: Row, members: Members): boolean {
  const isUniversal = Object.entries(universal).every(
    ([key, type]) => !members.has(key) || typeof members.get(key) === type,
  );
  if (!isUniversal) return false;
  if (!members.has('hookSpecificOutput')) return true;
  const specific = members.inner('hookSpecificOutput');
  if (specific === undefined || specific.get('hookEventName') !== point) return false;
  return Object.entries(row.specific ?? {}).every(([key, kind]) => {
    if (!specific.has(key) || kind === 'any') return true;
    return kind === 'text' ? typeof specific.get(key) === 'string' : isRecord(specific.get(key));
  });
}
