import { expect, test } from 'vitest';
import type { RuntimeError } from '../../../src/base/errors.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { ask, fault, left, questionAt, scene, seatAt } from './asking.ts';

interface Record {
  readonly attachment_type: string;
  readonly payload: unknown;
}

/** The records of a rule's answer, messages as pairs of type and payload. Undefined if nothing is kept. */
function recordOf(point: string, reply: Reply | RuntimeError, changes: { readonly atCap?: boolean } = {}) {
  const hookContext = changes.atCap ? { ...scene, forcedTurns: 3 } : scene;
  const { metadata } = ask({ point, reply, question: questionAt(point, { hookContext }) });
  const { agentao } = JSON.parse(metadata.text);
  const messages = agentao?.messages?.map(({ attachment_type: type, payload }: Record) => [type, payload]);
  return agentao && { ...agentao, ...(messages && { messages }) };
}

const json = (value: unknown, exit = 0) => left(JSON.stringify(value), { exit });
const success = (payload: unknown) => ['hook_success', payload];
const context = (payload: unknown) => ['hook_additional_context', { context: payload }];
const stopped = (payload: object) => ['hook_stopped_continuation', payload];
const blocked = ['hook_blocking_error', { error: 'no' }];
const own = { additionalContext: 'a' };

interface Row {
  readonly says: Reply;
  readonly leaves: unknown;
}

function named(rows: readonly Row[]) {
  const textOf = (reply: Reply) => (reply.via === 'process' ? Buffer.from(reply.stdout).toString() : '');
  return rows.map((row) => ({ ...row, printed: textOf(row.says) }));
}

test.each(
  named([
    { says: left(''), leaves: { messages: [success({})] } },
    { says: left('text'), leaves: { additional_contexts: ['text'], messages: [context('text')] } },
    { says: json({}), leaves: { additional_contexts: [], messages: [success({})] } },
    { says: json({ x: 1 }), leaves: { additional_contexts: [], messages: [success({ x: 1 })] } },
    { says: json(own), leaves: { additional_contexts: ['a'], messages: [context('a')] } },
    {
      says: json({ additionalContext: ['a', 'b'] }),
      leaves: { additional_contexts: ['a', 'b'], messages: [context(['a', 'b'])] },
    },
    {
      says: json({ ...own, blockingError: 'no' }),
      leaves: { additional_contexts: ['a'], blocking_error: 'no', messages: [blocked] },
    },
    {
      says: json({ ...own, continue: false, stopReason: 'enough' }),
      leaves: {
        additional_contexts: ['a'],
        prevent_continuation: true,
        stop_reason: 'enough',
        messages: [stopped({ reason: 'enough' })],
      },
    },
    {
      says: left('{"decision": "bl'),
      leaves: { additional_contexts: ['{"decision": "bl'], messages: [context('{"decision": "bl')] },
    },
  ]),
)('a rule of a prompt is recorded with its effect: $printed [AO-8-01 AO-8-04]', ({ says, leaves }) => {
  expect(recordOf('UserPromptSubmit', says)).toEqual(leaves);
});

const answer = (members: object) => ({ hookSpecificOutput: members });

test.each(
  named([
    { says: left(''), leaves: { messages: [success({})] } },
    { says: left('text'), leaves: { additional_contexts: ['text'], messages: [context('text')] } },
    {
      says: left('text', { exit: 1, stderr: 'oops' }),
      leaves: {
        additional_contexts: ['text'],
        messages: [context('text'), success({ warning: 'Hook exited with code 1' })],
      },
    },
    {
      says: json({ x: 1 }, 1),
      leaves: { messages: [success({ warning: 'Hook exited with code 1' })] },
    },
    { says: json(own), leaves: { additional_contexts: ['a'], messages: [success(own)] } },
    {
      says: json({ ...own, blockingError: 'no' }),
      leaves: { additional_contexts: ['a'], blocking_error: 'no', messages: [blocked] },
    },
    {
      says: json({ ...own, continue: false }),
      leaves: {
        additional_contexts: ['a'],
        messages: [success({ ...own, continue: false })],
        stop_reason: 'Hook prevented continuation',
      },
    },
    {
      says: json(answer({ permissionDecision: 'defer' })),
      leaves: {
        additional_contexts: [],
        messages: [success(answer({ permissionDecision: 'defer' }))],
      },
    },
    { says: left('{"a'), leaves: { additional_contexts: ['{"a'], messages: [context('{"a')] } },
  ]),
)('a rule of a tool is recorded with its effect: $printed [AO-8-03 AO-8-04]', ({ says, leaves }) => {
  expect(recordOf('PreToolUse', says)).toEqual(leaves);
});

const forced = (reason: string, more: object = {}) => ({
  force_continue: true,
  follow_up_message: reason,
  stop_reason: reason,
  messages: [stopped({ reason, ...more })],
});

test.each(
  named([
    { says: left(''), leaves: { messages: [success({})] } },
    { says: left('', { exit: 2, stderr: 'more' }), leaves: forced('more', { via: 'exit2' }) },
    {
      says: json({ decision: 'block', reason: 'more', systemMessage: 's', suppressOutput: true }),
      leaves: {
        ...forced('more'),
        additional_contexts: ['s'],
        system_message: 's',
        suppress_output: true,
      },
    },
    {
      says: json({ ...own, system_message: 's' }),
      leaves: { additional_contexts: ['s', 'a'], system_message: 's', messages: [context(['s', 'a'])] },
    },
    {
      says: json({ ...own, blockingError: 'no', stopReason: 'r' }),
      leaves: {
        additional_contexts: ['a'],
        stop_reason: 'r',
        blocking_error: 'no',
        messages: [blocked],
      },
    },
    {
      says: json({ continue: false, decision: 'block', reason: 'more' }),
      leaves: {
        additional_contexts: [],
        stop_reason: 'more',
        messages: [success({ continue: false, decision: 'block', reason: 'more' })],
      },
    },
    {
      says: json({ continue: false, decision: 'block', reason: 'more', stopReason: 'r' }),
      leaves: {
        additional_contexts: [],
        stop_reason: 'r',
        messages: [success({ continue: false, decision: 'block', reason: 'more', stopReason: 'r' })],
      },
    },
    { says: left('{"a'), leaves: { additional_contexts: ['{"a'], messages: [context('{"a')] } },
  ]),
)('a rule of a stop is recorded with its effect: $printed [AO-8-02 AO-8-04]', ({ says, leaves }) => {
  expect(recordOf('Stop', says)).toEqual(leaves);
});

test('at the cap a forced turn is recorded as requested [AO-8-11]', () => {
  const reply = left('', { exit: 2, stderr: 'more' });
  expect(recordOf('Stop', reply, { atCap: true })).toEqual(forced('more', { via: 'exit2' }));
});

test('a failure is recorded without its stderr, where rules are reported [AO-7-35@oneshot]', () => {
  const crash = left('', { exit: 1, stderr: 'x'.repeat(600) });
  const warned = (what: string) => ({ messages: [success({ warning: `Hook ${what}` })] });
  const kept = ['UserPromptSubmit', 'PreToolUse', 'Stop'];
  expect(kept.map((point) => recordOf(point, crash)?.messages)).toEqual(
    kept.map(() => expect.arrayContaining(warned('exited with code 1').messages)),
  );
  expect(kept.map((point) => recordOf(point, fault('PROCESS_TIMEOUT')))).toEqual(
    kept.map(() => warned('did not answer in time')),
  );
  expect(recordOf('Stop', fault('PROCESS_START'))).toEqual(warned('could not be started'));
  const others = ['SessionStart', 'SessionEnd', 'PostToolUse', 'PostToolUseFailure', 'PreCompact'];
  const failures = [crash, fault('PROCESS_TIMEOUT'), left('{"a')];
  for (const reply of failures) {
    expect(others.map((point) => recordOf(point, reply))).toEqual(others.map(() => undefined));
  }
});

test('a record names its rule by its command, else by its name, and differs by its event [AO-8-04]', () => {
  const recorded = (point: string, seat = seatAt(point), payload = questionAt(point).payload) => {
    const question = { ...questionAt(point), payload };
    const { metadata } = ask({ point, reply: left(''), seat, question });
    return JSON.parse(metadata.text).agentao.messages[0];
  };
  const { command: _, ...settings } = seatAt('Stop').settings;
  const unnamed = recorded('Stop', { ...seatAt('Stop'), settings });
  expect([recorded('Stop').hook_name, unnamed.hook_name]).toEqual(['./hook.sh', 'guard']);
  const ids = [
    recorded('Stop').uuid,
    unnamed.uuid,
    recorded('Stop', { ...seatAt('Stop'), name: 'other' }).uuid,
    recorded('Stop', seatAt('Stop'), { data: { x: 1 } }).uuid,
    recorded('UserPromptSubmit').uuid,
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
