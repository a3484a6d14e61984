import { Json } from '../../../src/base/json/json.ts';
import { noopScrubber } from '../../../src/contract/scrub.ts';
import { readPlainReply, scrubLine } from '../../../src/process/server/inbox.ts';
import { findRequestId, readLine } from '../../../src/process/server/json-rpc.ts';
import { bytesOf, holds, inputOf, isSame, type Target } from '../target.ts';

/** A server's line: both readers agree, and only valid replies are accepted. */
export const rpc: Target = {
  seeds: [
    '{"jsonrpc":"2.0","id":1,"result":{"allow":true}}',
    '{"jsonrpc": "2.0", "id": 12, "result": [1, "x"]}',
    '{"id":3,"jsonrpc":"2.0","result":null}',
    '{"jsonrpc":"2.0","result":{"id":8},"id":7}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}',
    '[{"jsonrpc":"2.0","id":1,"result":1}]',
    '{"jsonrpc":"2.0","method":"log","params":{}}',
    inputOf('{"jsonrpc":"2.0","id":"4","result":"é"}'),
  ],
  tokens: [
    ...[
      '"jsonrpc":"2.0"',
      '"id":',
      '"Id":',
      '"\\u0069d":',
      '"result":',
      '"error":',
      '"method":',
      ',',
      '1',
      '1.0',
    ],
    ...[
      '-1',
      '"1"',
      'null',
      '{',
      '}',
      '[',
      ']',
      '\u00ef\u00bb\u00bf',
      '\u00ff',
      '\u00ef\u00bf\u00bd',
      ' ',
      '\\',
    ],
  ],
  maxLength: 600,
  run: (input) => {
    const bytes = bytesOf(input);
    const line = readLine(bytes);
    const short = readPlainReply(bytes, 0, bytes.length);
    if (short !== undefined) isSame({ kind: 'reply', ...short, versioned: true }, line, 'the short reading');
    const value = tryObject(bytes);
    if (line.kind === 'reply') {
      holds(value?.['id'] === line.id, 'a reply to another request');
      const said = line.error ?? line.result ?? new Json('undefined');
      isSame(said.value, line.error ? value?.['error'] : value?.['result'], 'what a reply says');
    }
    const id = findRequestId(bytes);
    const isOnce =
      value !== undefined && bytes.toString('latin1').match(/"(i|\\u0069)(d|\\u0064)"/gi)?.length === 1;
    if (isOnce && id !== undefined && value['id'] !== undefined) {
      holds(Math.trunc(Number(value['id'])) === id, 'the id at the beginning', value['id'], id);
    }
    scrubLine(bytes, noopScrubber);
  },
};

function tryObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value))
      : undefined;
  } catch {
    return undefined;
  }
}
