import type { Outcome, Place, Vocabulary } from './outcome.ts';
import type { Content } from './printed.ts';
import { isRecord, jsonIn, Members, membersOf, partsOf } from './reading.ts';

const head = '{"jsonrpc":"2.0","id":@ID@,';

export function asReplies(contents: readonly Content[], { answers }: Place): Content[] {
  const wrapped = contents.map(({ title, bytes }) => ({
    title: `${title}, as a result`,
    bytes: Buffer.concat([Buffer.from(`${head}"result":`), bytes, Buffer.from('}')]),
  }));
  return [...wrapped, ...answers.flatMap(wrongReplies)];
}

function wrongReplies(answer: string): Content[] {
  const ids = [
    '',
    '"id":null,',
    '"id":"@ID@",',
    '"id":@ID@.5,',
    '"id":-1,',
    '"id":99999,',
    '"id":true,',
    '"id":[@ID@],',
    '"id":{},',
    '"ID":@ID@,',
    '"id":@ID@.0,',
  ];
  const errors = [
    '{}',
    '{"code":1}',
    '{"message":1}',
    '{"code":"x","message":"no"}',
    '"no"',
    '1',
    '[]',
    'true',
    '""',
    'null',
    '{"code":1,"message":"no","data":{"a":1}}',
  ];
  const texts = [
    ...ids.map((id) => `{"jsonrpc":"2.0",${id}"result":${answer}}`),
    ...errors.flatMap((error) => [
      `${head}"error":${error}}`,
      `${head}"result":${answer},"error":${error}}`,
      `${head}"error":${error},"result":${answer}}`,
    ]),
    `${head}"x":1}`,
    `${head}"Result":${answer}}`,
    `[${head}"result":${answer}}]`,
    `[[${head}"result":${answer}}]]`,
    '[]',
    `${head}"method":"execute","params":${answer}}`,
    `${head}"method":"execute","result":${answer}}`,
    `{"id":@ID@,"result":${answer}}`,
    `{"jsonrpc":"1.0","id":@ID@,"result":${answer}}`,
    `${head}"result":${answer}}${head}"result":${answer}}`,
    `${head}"result":${answer}} ${head}"result":${answer}}`,
    `${head}"result":null,"result":${answer}}`,
    `${head}"result":${answer},"result":null}`,
    answer,
  ];
  return texts.map((text) => ({ title: `the reply ${text}`, bytes: Buffer.from(text) }));
}

export function expectReply(
  vocabulary: Vocabulary,
  point: string,
  { bytes, isClosed }: { readonly bytes: Uint8Array; readonly isClosed: boolean },
): readonly Outcome[] {
  const result = findResult(bytes);
  // In some dialects, an unusable denial still denies.
  if (result === undefined) return [...vocabulary.expect(point, Buffer.from('x'), isClosed), 'deny'];
  if (point !== 'tool') return vocabulary.expect(point, Buffer.from(result), isClosed);
  const value = jsonIn(result);
  const isAsking = isRecord(value) && Object.keys(value).join() === 'pending';
  return isAsking ? (isRecord(value['pending']) ? ['ask', 'deny'] : ['pass', 'deny']) : ['pass'];
}

/** The text of the result in the first usable line; undefined for an error or no usable line. */
function findResult(bytes: Uint8Array): string | undefined {
  const printed = Buffer.from(bytes).toString('latin1').replaceAll('@ID@', '7');
  for (const line of printed.split('\n')) {
    const own = Buffer.from(line, 'latin1');
    const text = new TextDecoder().decode(own).trim();
    const value = jsonIn(text);
    if (typeof value !== 'object' || value === null) continue;
    if (own.includes('\ufffd') || !isUtf8(own)) return undefined;
    if (Array.isArray(value)) {
      if (partsOf(text).some((part) => part.includes('7'))) return undefined;
      continue;
    }
    const members = new Members(membersOf(text));
    const isRequest = members.has('method') && !members.has('result') && !members.has('error');
    if (isRequest) continue;
    const id = members.get('id') ?? null;
    if (id === 7) return (members.get('error') ?? null) === null ? members.text('result') : undefined;
    if (id === null || id === '7' || id === 7.5) return undefined;
  }
  return undefined;
}

function isUtf8(bytes: Uint8Array): boolean {
  return Buffer.from(new TextDecoder().decode(bytes)).length === bytes.length;
}
