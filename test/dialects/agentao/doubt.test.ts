import { expect, test } from 'vitest';
import { titled } from '../../cite.ts';
import { calling } from '../../table.ts';
import { ask, left, say, seatAt } from './asking.ts';
import { type Row, row } from './rows.ts';

/** Words that may occur twice, from the one that denies to the one that allows. */
const twice: readonly string[] = [
  '{"decision": "block", "decision": "approve"}',
  '{"\\u0064ecision": "block", "decision": "approve"}',
  '{"Decision": "block", "decision": "approve"}',
  '{"continue": false, "continue": true}',
  '{"preventContinuation": true, "preventContinuation": false}',
  '{"prevent_continuation": true, "prevent_continuation": null}',
  '{"blockingError": "no", "blockingError": null}',
  '{"blocking_error": "no", "blocking_error": null}',
  '{"hook_blocking_error": "no", "hook_blocking_error": null}',
  '{"attachment_type": "hook_blocking_error", "attachment_type": "hook_success"}',
  '{"messages": [{"attachment_type": "hook_blocking_error"}], "messages": []}',
  '{"messages": [{"attachment_type": "hook_blocking_error", "attachment_type": "hook_success"}]}',
  '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow"}}',
  '{"hookSpecificOutput": {"permissionDecision": "deny"}, "hookSpecificOutput": {}}',
  '{"hookSpecificOutput": {"permissionDecision": "allow", "PermissionDecision": "deny"}}',
  '{"hookSpecificOutput": {"updatedInput": {"a": 1}, "updatedInput": {"a": 2}}}',
  '{"hookSpecificOutput": {"updatedToolOutput": "***", "updatedToolOutput": "secret"}}',
];
const asked = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'Stop'];

test.each(asked.flatMap((point) => twice.map((text) => ({ point, text }))))(
  '$point: $text denies, alone and among other lines [AO-7-45@oneshot]',
  ({ point, text }) => {
    const seats = [seatAt(point), { ...seatAt(point), onFailure: 'deny' as const }];
    const verdicts = seats.flatMap((seat) =>
      [left(text), left(text, { exit: 1 }), left(`starting\n${text}\ndone`)].map(
        (reply) => ask({ point, reply, seat }).verdict,
      ),
    );
    expect(verdicts).toEqual(verdicts.map(() => 'deny'));
  },
);

test.each(['SessionStart', 'SessionEnd', 'PreCompact'])(
  '%s: they stop nothing [AO-7-44@oneshot]',
  (point) => {
    expect(twice.map((text) => ask({ point, reply: left(text) }).verdict)).toEqual(twice.map(() => 'allow'));
  },
);

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const cutOff = '{"decision": "block", "reas';
const denied = 'deny "no" [Blocked by hook] no';
const rows: readonly Row[] = [
  ...calling(row)`
    AO-7-43@oneshot | PreToolUse: new arguments with NaN deny | PreToolUse | ${left('{"hookSpecificOutput": {"updatedInput": {"a": [NaN]}}}')} | deny REPLY_MALFORMED
    AO-7-43@oneshot | PostToolUse: a new result with NaN denies | PostToolUse | ${left('{"hookSpecificOutput": {"updatedToolOutput": {"a": NaN}}}')} | deny REPLY_MALFORMED
    AO-7-43@oneshot AO-7-41@oneshot | PreToolUse: a denial behind a byte order mark is one | PreToolUse | ${left('\ufeff{"decision": "block", "reason": "no"}')} | ${denied}
    AO-7-47@oneshot | UserPromptSubmit: CRLF becomes LF | UserPromptSubmit | ${left('a\r\nb\r\n')} | ${'allow "" ["a\\nb"]'}
    AO-7-47@oneshot | Stop: CRLF of stderr becomes LF | Stop | ${left('', { exit: 2, stderr: 'a\r\nb\r\n' })} | ${'modify "a\\nb" {"follow_up":"a\\nb"}'}
    AO-7-48@oneshot | PreToolUse: what was cut off passes by its rule | PreToolUse | ${left(cutOff)} | allow "" agentao.bad_json
    AO-7-48@oneshot | UserPromptSubmit: what was cut off is still a text | UserPromptSubmit | ${left(cutOff)} | allow "" [${JSON.stringify(cutOff)}] agentao.bad_json
    AO-7-49@oneshot | Stop: an empty reason gives way to stopReason | Stop | ${left('{"decision": "block", "reason": "", "stopReason": "s"}')} | modify "s" {"follow_up":"s"}
  `,
  ...['NaN', 'Infinity', '-Infinity', '[1, -Infinity]', '{"a": NaN}'].flatMap((value) =>
    ['UserPromptSubmit', 'PreToolUse'].map((point) =>
      row(
        'AO-7-43@oneshot',
        `${point}: a denial beside ${value} is a denial`,
        point,
        left(`{"score": ${value}, "decision": "block", "reason": "no"}`),
        denied,
      ),
    ),
  ),
  row(
    'AO-7-43@oneshot',
    'UserPromptSubmit: preventContinuation of NaN stops, as it does in Python',
    'UserPromptSubmit',
    left('{"preventContinuation": NaN, "stopReason": "enough"}'),
    'deny "enough" [Hook stopped] enough',
  ),
  row(
    'AO-7-43@oneshot AO-7-48@oneshot',
    'UserPromptSubmit: behind a byte order mark there is no JSON',
    'UserPromptSubmit',
    left('\ufeff{"additionalContext": "a"}'),
    'allow "" ["\ufeff{\\"additionalContext\\": \\"a\\"}"] agentao.bad_json',
  ),
  row(
    'AO-7-43@oneshot AO-7-48@oneshot',
    'UserPromptSubmit: behind two byte order marks there is no JSON',
    'UserPromptSubmit',
    left('\ufeff\ufeff{"additionalContext": "a"}'),
    'allow "" ["\ufeff\ufeff{\\"additionalContext\\": \\"a\\"}"] agentao.bad_json',
  ),
  ...[utf16, (text: string) => utf16(text).swap16()].map((encode, index) =>
    row(
      'AO-7-46@oneshot',
      `PreToolUse: a denial in UTF-16, ${['little', 'big'][index]}-endian, is one`,
      'PreToolUse',
      left(encode('{"decision": "block", "reason": "no"}')),
      denied,
    ),
  ),
  ...[(bytes: Buffer) => bytes, (bytes: Buffer) => bytes.swap16()].map((order, index) =>
    row(
      'AO-7-48@oneshot',
      `PreToolUse: UTF-16 without a mark, ${['little', 'big'][index]}-endian, passes by its rule`,
      'PreToolUse',
      left(order(Buffer.from('{"decision": "block"}', 'utf16le'))),
      'allow "" agentao.bad_json',
    ),
  ),
  row(
    'AO-7-49@oneshot',
    'Stop: an empty reason is the stock text',
    'Stop',
    left('{"decision": "block", "reason": ""}'),
    'modify "Stop hook requested continuation" {"follow_up":"Stop hook requested continuation"}',
  ),
  row(
    'AO-7-49@oneshot',
    'Stop: preventContinuation with stopReason beats decision',
    'Stop',
    left('{"decision": "block", "reason": "r", "preventContinuation": true, "stopReason": "s"}'),
    'modify "s" {"follow_up":"s"}',
  ),
];

test.each(titled(rows))('$title', ({ point, reply, means }) => {
  expect(say(ask({ point, reply }))).toBe(means);
});

test.each(asked)(
  '%s: a truncated output is closed if there is something to deny [AO-7-48@oneshot]',
  (point) => {
    const answer = ask({ point, reply: left(cutOff), seat: { ...seatAt(point), onFailure: 'deny' } });
    expect(say(answer)).toBe(
      point === 'PostToolUseFailure'
        ? 'allow "" agentao.bad_json'
        : 'deny "hook \\"guard\\" printed something that begins like a JSON object but is not one" agentao.bad_json',
    );
  },
);
