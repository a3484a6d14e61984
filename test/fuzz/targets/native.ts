import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import { promptkit } from '../../../src/dialects/promptkit/dialect.ts';
import { answered, decodeEval, decodeHook, decodeTool, printed, request } from '../../dialects/verdicts.ts';
import { bytesOf, coded, holds, inputOf, type Target } from '../target.ts';

const events = [
  readEvent({
    hook: 'provider',
    phase: 'before_call',
    request: { messages: [{ role: 'user', content: 'a' }] },
  }),
  readEvent({ hook: 'provider', phase: 'after_call', request: {}, response: { message: { content: 'a' } } }),
  readEvent({ hook: 'tool', phase: 'before_execution', request: { name: 'w' } }),
  readEvent({ hook: 'tool', phase: 'after_execution', request: { name: 'w' }, response: {} }),
];

/** Output of a native tool, eval or hook with exit code 0. The first character selects the event. */
export const native: Target = {
  seeds: [
    '2{"allow": true}',
    // Outputs that resemble an allow.
    ...['"true"', '1', '{}', '[true]', 'null', 'TRUE'].map((word) => `2{"allow": ${word}}`),
    '2{"allow": true, "Allow": false}',
    '0{"allow": true, "replace": {"messages": [{"role": "user", "content": "[redacted]"}]}, "metadata": {"n": 1}}',
    '2{"allow": true, "replace": {"args": {"a": 1}}, "reason": "fine"}',
    '1{"allow": false, "enforced": true, "reason": "no", "metadata": {"replacement": "x"}}',
    '2{"allow": false, "ask": true, "reason": "sure?"}',
    '3{"result": {"a": [1, "x"]}, "error": null}',
    '3{"pending": {"reason": "r", "message": "m"}}',
    '3{"score": 0.5, "detail": "d", "data": {"x": 1e0}}',
    inputOf('3{"results": [{"score": 1}, {"error": "é"}]}'),
  ],
  tokens: [
    ...[
      '"allow":',
      '"Allow":',
      '"\\u0061llow":',
      'true',
      'false',
      'null',
      '"true"',
      '1',
      '{',
      '}',
      ',',
      ' ',
      '\\',
    ],
    ...[
      '"replace":',
      '"enforced":',
      '"ask":',
      '"reason":',
      '"metadata":',
      '"result":',
      '"error":',
      '"pending":',
    ],
    ...[
      '"score":',
      '"data":',
      '"results":',
      '"__proto__":',
      '\u00ef\u00bb\u00bf',
      '\u00ff',
      '\n',
      '1e400',
      '-0',
    ],
  ],
  maxLength: 600,
  run: (input) => {
    const event = events[input.charCodeAt(0) & 3] ?? events[0];
    const bytes = bytesOf(input.slice(1));
    const said = objectIn(bytes);
    const reply = printed(bytes);
    const { verdict } = decodeHook(reply, event);
    holds(verdict === 'deny' || verdict === 'ask' || says(said, 'allow', true), 'it allows', verdict);
    holds(verdict !== 'ask' || (says(said, 'allow', false) && says(said, 'ask', true)), 'it asks');
    holds(verdict !== 'allow' || said?.['replace'] === undefined, 'a replacement is lost');
    const tool = decodeTool(reply);
    const hasNoError = (said?.['error'] ?? '') === '';
    holds(tool.status !== 'ok' || (hasNoError && said?.['result'] !== undefined), 'a tool succeeds');
    const scored = decodeEval(reply);
    if (scored.status === 'scored') {
      holds(scored.score >= 0 && scored.score <= 1 && said?.['score'] === scored.score, 'a score');
    }
    const many = coded(() => promptkit.evalBatch.decode(reply, [request, request]).output);
    holds(many === undefined || many.length === 2, 'as many outcomes');
    if (said === undefined) return;
    const server = decodeHook(answered(bytes.toString().trim()), event);
    holds(server.verdict === verdict, 'a server says the same', server.verdict, verdict);
  },
};

function says(said: Readonly<Record<string, unknown>> | undefined, key: string, value: boolean): boolean {
  const spellings = Object.keys(said ?? {}).filter((each) => each.toLowerCase() === key);
  return said?.[key] === value && spellings.length === 1 && !(value && said['enforced'] === true);
}

function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim());
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMapping ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
