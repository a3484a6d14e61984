import type { Outcome, Place, Vocabulary } from './outcome.ts';
import { isRecord, jsonIn, Members, partsOf, read, readText } from './reading.ts';

const tool = { toolName: 'run_shell_command', toolInput: { command: 'ls' } };
const common = [
  '{}',
  '{"blockingError":"no"}',
  '{"blocking_error":"no"}',
  '{"preventContinuation":true,"stopReason":"enough"}',
  '{"continue":false}',
  '{"decision":"block","reason":"no"}',
  '{"additionalContext":"x"}',
  '{"attachment_type":"hook_blocking_error","payload":{"error":"no"}}',
];
const specific = (members: object) => JSON.stringify({ hookSpecificOutput: members });

/** Points at which an answer can deny. */
const asked: readonly Place[] = [
  { point: 'UserPromptSubmit', payload: { userMessage: 'hi' }, answers: common },
  {
    point: 'PreToolUse',
    payload: tool,
    answers: [
      ...common,
      specific({ permissionDecision: 'deny', permissionDecisionReason: 'no' }),
      specific({ permissionDecision: 'ask' }),
      specific({ permissionDecision: 'allow' }),
      specific({ updatedInput: { command: 'pwd' } }),
    ],
  },
  { point: 'PostToolUse', payload: { ...tool, toolOutput: 'o' }, answers: common },
  {
    point: 'Stop',
    payload: { last_assistant_message: 'done' },
    answers: [...common, '{"force_continue":true,"follow_up_message":"more"}'],
  },
];

const told: readonly Place[] = [
  { point: 'SessionStart', payload: {}, answers: ['{"additionalContext":"x"}'] },
  { point: 'SessionEnd', payload: {}, answers: ['{"blockingError":"no"}'] },
  { point: 'PreCompact', payload: { trigger: 'manual' }, answers: ['{"blockingError":"no"}'] },
];

/**
 * Section 7: a blocking error, a stop, a block and an unknown verdict deny, also on their own line. A broken object is
 * a failure. Other text passes.
 */
export const agentao: Vocabulary = {
  dialect: 'agentao',
  places: [...asked, ...told],
  expect(point, bytes, isClosed) {
    if (!asked.some((each) => each.point === point)) return ['pass', 'change', 'open'];
    const failed: readonly Outcome[] = [isClosed ? 'deny' : 'open'];
    const { reading, isGarbled } = read(bytes);
    // Python's JSON reader rejects a UTF-8 byte order mark.
    if (bytes[0] === 0xef && reading.kind === 'object')
      return ['deny', ...failed, ...changesAt(point, new Members(reading.members))];
    if (reading.kind === 'blank') return ['pass'];
    const text = reading.kind === 'text' ? reading.text : undefined;
    // Python reads the number as infinity, which arguments cannot contain.
    const overflown: readonly Outcome[] = new TextDecoder().decode(bytes).includes('1e999') ? ['deny'] : [];
    const members = reading.kind === 'object' ? new Members(reading.members) : objectOfPython(text ?? '');
    if (members !== undefined) return [...expectOf(point, members, isGarbled ? failed : []), ...overflown];
    return textMayBe(point, text ?? '', failed);
  },
};

function objectOfPython(text: string): Members | undefined {
  const reading = readText(text.replaceAll(/([:,[]\s*)-?(NaN|Infinity)(?=\s*[,\]}])/g, '$1null'));
  return reading.kind === 'object' ? new Members(reading.members) : undefined;
}

function textMayBe(point: string, text: string, failed: readonly Outcome[]): readonly Outcome[] {
  const objects = [...text.split(/\r\n|\r|\n/), ...(Array.isArray(jsonIn(text)) ? partsOf(text) : [])]
    .map((line) => readText(line.trim()))
    .flatMap((reading) => (reading.kind === 'object' ? [new Members(reading.members)] : []));
  // An object on its own line counts if it denies. The protocol does not say where lines end within JSON.
  if (objects.some((members) => expectOf(point, members, []).includes('deny')))
    return ['deny', 'change', 'pass', 'open'];
  const changes = objects.flatMap((members) => changesAt(point, members));
  return text.startsWith('{') ? [...failed, ...changes] : ['pass', ...failed, ...changes];
}

function changesAt(point: string, members: Members): readonly Outcome[] {
  return point === 'Stop' ? expectOf(point, members, []).filter((each) => each === 'change') : [];
}

function expectOf(point: string, members: Members, garbled: readonly Outcome[]): readonly Outcome[] {
  const specificOutput = members.inner('hookSpecificOutput');
  const isAsking = ['ask', 'defer'].includes(String(specificOutput?.get('permissionDecision')));
  if (isBlocking(members) || isTwice(members) || (specificOutput !== undefined && isTwice(specificOutput)))
    return ['deny'];
  if (stops(members)) return point === 'Stop' ? ['deny', 'change', 'pass'] : ['deny'];
  if (blocks(members))
    return ['UserPromptSubmit', 'PreToolUse'].includes(point) ? ['deny'] : ['deny', 'change', 'pass', 'open'];
  if (point !== 'PreToolUse') return ['pass', 'change', ...garbled];
  if (isUnknown(specificOutput)) return ['deny'];
  // A verdict belongs in this object, which has the wrong type.
  if (members.has('hookSpecificOutput') && specificOutput === undefined) return ['deny', 'pass', ...garbled];
  return isAsking ? ['ask'] : ['pass', 'change', ...garbled];
}

const errors = ['blockingError', 'blocking_error', 'hook_blocking_error'];
const records = ['hook_additional_context', 'hook_success', 'hook_stopped_continuation'];

function isBlocking(members: Members): boolean {
  const type = members.get('attachment_type');
  const isRecorded = type !== undefined && type !== null && !records.some((known) => known === type);
  return isRecorded || errors.some((key) => (members.get(key) ?? null) !== null);
}

function stops(members: Members): boolean {
  const isPrevented = ['preventContinuation', 'prevent_continuation'].some((key) =>
    Boolean(members.get(key)),
  );
  const given = members.get('continue') ?? true;
  return isPrevented || given !== true;
}

function blocks(members: Members): boolean {
  return (members.get('decision') ?? 'approve') !== 'approve';
}

function isTwice(members: Members): boolean {
  const words = [
    ...errors,
    'preventContinuation',
    'continue',
    'decision',
    'permissionDecision',
    'updatedInput',
    'force_continue',
    'attachment_type',
    'hookSpecificOutput',
  ];
  return words.some((word) => members.times(word) > 1);
}

function isUnknown(specificOutput: Members | undefined): boolean {
  const word = specificOutput?.get('permissionDecision') ?? 'allow';
  const isWord = ['allow', 'ask', 'defer'].some((known) => known === word);
  const input = specificOutput?.get('updatedInput') ?? {};
  return !isWord || !isRecord(input);
}
