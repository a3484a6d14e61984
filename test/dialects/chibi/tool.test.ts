import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { flowControlResult } from '../../../src/dialects/chibi/config/plugins.ts';
import { tool } from '../../../src/dialects/chibi/tool.ts';
import type { ProcessReply } from '../../../src/process/transport.ts';
import { printed } from './asking.ts';

const call = { name: 'word_count', callId: 'c1', args: new Json('{}') };

test('a call sends only its arguments and names its tool [CH-3-01@oneshot CH-3-02@oneshot CH-8-04@oneshot]', () => {
  const args = new Json(
    '{ "b": [ {"z": 1.10, "é": "\\u00e9"} ],\n"10": 1, "9": 12345678901234567890, "b": [ {"z": 2, "a": null} ] }',
  );
  expect(tool.encode({ ...call, args })).toStrictEqual({
    method: 'word_count',
    body: '{"10":1,"9":12345678901234567890,"b":[{"a":null,"z":2}]}',
    terminator: '',
    env: {
      CHIBI_TOOL_NAME: 'word_count',
      CHIBI_HOOK: undefined,
      CHIBI_TOOL_ARGS: undefined,
      CHIBI_HOOK_DATA: undefined,
    },
  });
});

test('keys are sorted by their bytes [CH-3-01@oneshot]', () => {
  const args = new Json('{"\\ud83d\\ude00": 1, "\\uffff": 2, "Z": 3, "a": "\\/\\n\\u00e9"}');
  expect(tool.encode({ ...call, args }).body).toBe('{"Z":3,"a":"/\\né","\uffff":2,"😀":1}');
});

test.each(['', ' 3 words\n', '{"pending": {"reason": "r"}}\n', '\ufeffé'])(
  'the result is the unchanged stdout: %j [CH-3-03@oneshot CH-3-06@oneshot]',
  (stdout) => {
    const { output } = tool.decode(printed(stdout), call);
    expect(output).toEqual({ status: 'ok', result: Json.from(stdout) });
  },
);

const crashes: readonly [string, Partial<ProcessReply>, string][] = [
  ['an exit code', { exitCode: 3 }, 'PROCESS_EXIT'],
  ['a signal', { exitCode: null, signal: 'SIGKILL' }, 'PROCESS_SIGNAL'],
];

test.each(crashes)('%s fails the call [CH-3-04@oneshot]', (_title, exit, code) => {
  const reply = printed('half', { ...exit, stderr: 'boom\n' });
  expect(() => tool.decode(reply, call)).toThrow(
    expect.objectContaining({
      code,
      message: 'Tool execution failed or was cancelled',
      details: { exit_code: reply.exitCode, signal: reply.signal, stderr: 'boom\n' },
    }),
  );
});

test('stdout that is not UTF-8 fails the call [CH-3-05@oneshot]', () => {
  expect(() => tool.decode(printed(Uint8Array.of(0x61, 0xff)), call)).toThrow(
    expect.objectContaining({ code: 'REPLY_MALFORMED' }),
  );
});

const flows = [
  { endsTurn: true, args: '{"message": "bye", "prompt": "p"}', result: 'bye' },
  { endsTurn: true, args: '{}', result: 'Returning to user' },
  { endsTurn: false, args: '{"prompt": "more"}', result: 'Continuing with: more' },
  { endsTurn: false, args: '{"message": "bye"}', result: 'Continuing processing' },
];

test.each(flows)(
  'flow control with $args, ends the turn: $endsTurn [CH-2-16@oneshot]',
  ({ args, result, ...element }) => {
    expect(flowControlResult(element, new Json(args))).toBe(result);
  },
);
