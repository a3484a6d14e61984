import { expect, test } from 'vitest';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import { ask, fault, left, questionAt, say, scene, seatAt } from './asking.ts';

const points = Object.keys(agentao.points);
const closable = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];
const failures = [
  { cause: 'agentao.timeout', reply: fault('PROCESS_TIMEOUT'), code: 'PROCESS_TIMEOUT' },
  { cause: 'agentao.spawn', reply: fault('PROCESS_START'), code: 'PROCESS_START' },
  { cause: 'agentao.exit_nonzero', reply: left('', { exit: 1 }), code: undefined },
];
const each = points.flatMap((point) => failures.map((failure) => ({ point, ...failure })));

test.each(each)('$point: $cause is kept, named and logged [AO-7-35@oneshot]', ({ point, cause, reply }) => {
  const { output, notes } = agentao.decode(seatAt(point), questionAt(point), reply);
  expect(output.verdict).toBe('allow');
  expect(JSON.parse(output.metadata.text)).toMatchObject({ failed_open: { hook: 'guard', cause } });
  expect(notes.map(({ level, message }) => [level, message.includes(cause)])).toEqual([['warn', true]]);
});

test.each(each)('$point: $cause under on_failure: deny [AO-7-36@oneshot]', ({ point, reply, code }) => {
  const answer = ask({ point, reply, seat: { ...seatAt(point), onFailure: 'deny' } });
  const error = 'error' in answer ? answer.error?.code : undefined;
  const expected = closable.includes(point) ? ['deny', code] : ['allow', undefined];
  expect([answer.verdict, error]).toEqual(expected);
});

const others = ['OUTPUT_LIMIT', 'REPLY_MALFORMED', 'SERVER_EXIT', 'LIMIT_EXCEEDED', 'INTERNAL'] as const;

test.each(points.flatMap((point) => others.map((code) => ({ point, code }))))(
  '$point: $code passes only where nothing can be denied [AO-7-37@oneshot DS-LIM-08]',
  ({ point, code }) => {
    const isOpen = ['SessionStart', 'SessionEnd', 'PreCompact'].includes(point);
    expect(say(ask({ point, reply: fault(code) }))).toBe(isOpen ? 'allow ""' : `deny ${code}`);
  },
);

test('a server’s reply denies [AO-7-38@oneshot]', () => {
  expect(say(ask({ point: 'PreToolUse', reply: { via: 'rpc' } }))).toBe('deny REPLY_MALFORMED');
});

const remarks = [
  {
    title: 'a banner before JSON is remarked on [AO-7-15@oneshot]',
    point: 'PreToolUse',
    stdout: 'hi\n{"a":1}',
    levels: ['warn'],
  },
  {
    title: 'a block without a reason is remarked on [AO-7-21@oneshot]',
    point: 'Stop',
    stdout: '{"decision":"block"}',
    levels: ['warn'],
  },
  {
    title: 'text after a tool is logged [AO-7-34@oneshot]',
    point: 'PostToolUse',
    stdout: 'text',
    levels: ['debug'],
  },
  ...[
    ['PreToolUse', { permissionDecision: 'deny' }],
    ['PreToolUse', { permission_decision: 'deny' }],
    ['PreToolUse', { hook_specific_output: { permission_decision: 'deny' } }],
    ['PreToolUse', { hookSpecificOutput: { permission_decision: 'deny' } }],
    ['UserPromptSubmit', { hookSpecificOutput: { permissionDecision: 'deny' } }],
    ['PostToolUse', { permissionDecision: 'deny' }],
  ].map(([point, said]) => ({
    title: `${point}: ${JSON.stringify(said)} is remarked on [AO-7-42@oneshot]`,
    point: String(point),
    stdout: JSON.stringify(said),
    levels: ['warn'],
  })),
  {
    title: 'a denial behind a banner is remarked on [AO-7-41@oneshot]',
    point: 'PreToolUse',
    stdout: 'hi\n{"blockingError":"no"}',
    levels: ['warn'],
  },
  { title: 'an answer needs no remark [AO-7-10@oneshot]', point: 'PreToolUse', stdout: '{}', levels: [] },
];

test.each(remarks)('$title', ({ point, stdout, levels }) => {
  const { notes } = agentao.decode(seatAt(point), questionAt(point), left(stdout));
  expect(notes.map(({ level }) => level)).toEqual(levels);
});

test('a failed exit with a harmless object after a banner is closed by its rule [AO-7-36@oneshot]', () => {
  const seat = { ...seatAt('PreToolUse'), onFailure: 'deny' } as const;
  const { output, notes } = agentao.decode(seat, questionAt('PreToolUse'), left('hi\n{"a":1}', { exit: 1 }));
  expect(say(output)).toBe('deny "hook \\"guard\\" exited with code 1" agentao.exit_nonzero');
  expect(notes.filter(({ message }) => message.includes('its denial counts'))).toEqual([]);
});

test('exit 2 at Stop causes no note on other output [AO-7-19@oneshot]', () => {
  const reply = left('hi\n{"blockingError":"no"}', { exit: 2, stderr: 'more' });
  const { notes } = agentao.decode(seatAt('Stop'), questionAt('Stop'), reply);
  expect(notes.filter(({ message }) => message.includes('its denial counts'))).toEqual([]);
});

test('at the cap a forced turn is ignored, and ends the loop [AO-8-11]', () => {
  const question = { ...questionAt('Stop'), hookContext: { ...scene, forcedTurns: 3 } };
  const { output, notes } = agentao.decode(seatAt('Stop'), question, left('', { exit: 2, stderr: 'more' }));
  expect(say(output)).toBe('modify "more" {}');
  expect(notes.map(({ level }) => level)).toEqual(['warn']);
});
