import { expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import { readBody } from '../../src/dialects/body.ts';
import { callEval, callHook, callTool } from '../calls/capability/asking.ts';
import { answering, type Entry, openBench } from '../calls/capability/bench.ts';
import { onTransports } from '../cite.ts';
import {
  answered,
  decodeEval,
  decodeHook,
  decodeTool,
  notesOn,
  printed,
  sayEval,
  sayHook,
  sayTool,
} from './verdicts.ts';

const good = '{"result": "é", "score": 1, "allow": true}';
const goodMeans = ['ok "é"', 'scored 1 "" -', 'allow "" {}'];
const refusedMeans = ['failed REPLY_MALFORMED', 'unscored REPLY_MALFORMED', 'deny REPLY_MALFORMED'];

/** What the codecs of the three capabilities decode from a reply. */
function decodeAll(reply: ReturnType<typeof printed>): string[] {
  return [sayTool(decodeTool(reply)), sayEval(decodeEval(reply)), sayHook(decodeHook(reply))];
}

/** The same with real processes. */
async function callAll(entry: Entry): Promise<string[]> {
  const bench = openBench();
  return await Promise.all([
    callTool(bench, entry).then(sayTool),
    callEval(bench, entry).then(sayEval),
    callHook(bench, entry).then(sayHook),
  ]);
}

const read = [
  { title: 'the object alone', cites: 'PK-3-02@oneshot', stdout: good },
  { title: 'after a byte order mark', cites: 'PK-3-01@oneshot', stdout: `\ufeff${good}` },
  {
    title: 'after a byte order mark and white space',
    cites: 'PK-3-01@oneshot',
    stdout: `\ufeff\r\n ${good}`,
  },
  { title: 'in white space', cites: 'PK-3-02@oneshot', stdout: `\n\r\n\t  ${good} \t\r\n\n` },
  { title: 'over several lines', cites: 'PK-3-02@oneshot', stdout: good.replaceAll(' ', '\n  ') },
];

test.each(onTransports(read))('an object is read $title', async ({ on, stdout }) => {
  expect(decodeAll(printed(stdout))).toEqual(goodMeans);
  expect(await callAll(answering(on, stdout))).toEqual(goodMeans);
});

const refused = [
  { title: 'nothing', cites: 'PK-3-04@oneshot', stdout: '' },
  { title: 'white space', cites: 'PK-3-04@oneshot', stdout: ' \n\t\r\n' },
  { title: 'a byte order mark', cites: 'PK-3-04@oneshot', stdout: '\ufeff' },
  { title: 'text', cites: 'PK-3-05@oneshot', stdout: 'Segmentation fault' },
  { title: 'text before the object', cites: 'PK-3-05@oneshot', stdout: `loading rules\n${good}` },
  { title: 'text before the object, on its line', cites: 'PK-3-05@oneshot', stdout: `reply: ${good}` },
  { title: 'text after the object', cites: 'PK-3-05@oneshot', stdout: `${good}\ndone` },
  { title: 'a comma after the object', cites: 'PK-3-05@oneshot', stdout: `${good},` },
  { title: 'a comment', cites: 'PK-3-05@oneshot', stdout: `/* reply */ ${good}` },
  { title: 'a code fence', cites: 'PK-3-05@oneshot', stdout: `\`\`\`json\n${good}\n\`\`\`` },
  { title: 'half an object', cites: 'PK-3-05@oneshot', stdout: good.slice(0, -1) },
  { title: 'two objects on one line', cites: 'PK-3-06@oneshot', stdout: `${good} ${good}` },
  { title: 'two objects without a space', cites: 'PK-3-06@oneshot', stdout: `${good}${good}` },
  { title: 'two objects on two lines', cites: 'PK-3-06@oneshot', stdout: `${good}\n${good}` },
  { title: 'two different objects', cites: 'PK-3-06@oneshot', stdout: `{"allow": false}\n${good}` },
];

test.each(onTransports(refused))('$title is refused', async ({ on, stdout }) => {
  expect(decodeAll(printed(stdout))).toEqual(refusedMeans);
  expect(await callAll(answering(on, stdout))).toEqual(refusedMeans);
});

const notObjects = [
  { title: 'null', cites: 'PK-3-08@both PK-3-15@oneshot PK-3-16@both PK-6-31@both', says: 'null' },
  { title: 'an array', cites: 'PK-3-08@both PK-3-15@oneshot PK-3-16@both PK-6-31@both', says: `[${good}]` },
  {
    title: 'a string',
    cites: 'PK-3-08@both PK-3-15@oneshot PK-3-16@both PK-6-31@both',
    says: JSON.stringify(good),
  },
  { title: 'a number', cites: 'PK-3-08@both PK-3-15@oneshot PK-3-16@both PK-6-31@both', says: '1' },
  { title: 'true', cites: 'PK-3-08@both PK-3-15@oneshot PK-3-16@both PK-6-31@both', says: 'true' },
  { title: 'false', cites: 'PK-3-08@both PK-3-15@oneshot PK-3-16@both PK-6-31@both', says: 'false' },
];

test.each(onTransports(notObjects))('$title in place of the object is refused', async ({ on, says }) => {
  // A server's tool returns a bare value, so any value is a result.
  const means = on === 'oneshot' ? refusedMeans : [`ok ${says}`, ...refusedMeans.slice(1)];
  expect(decodeAll(on === 'oneshot' ? printed(says) : answered(says))).toEqual(means);
  expect(await callAll(answering(on, says))).toEqual(means);
});

test('a tool’s server whose reply cannot be read fails the call [PK-3-15@server]', async () => {
  const outcome = await callTool(openBench(), { on: 'server', runs: ['server', 'neither'] });
  expect(sayTool(outcome)).toBe('failed REPLY_MALFORMED');
});

const hints = [
  {
    title: 'nothing printed',
    cites: 'PK-3-04@oneshot',
    stdout: '\n',
    says: { message: 'the process exited 0 and printed nothing', hint: expect.stringContaining('stdout') },
  },
  {
    title: 'an object among lines of text',
    cites: 'PK-3-07@oneshot',
    stdout: `loading rules\n ${good}\r\ndone\n`,
    says: { hint: expect.stringMatching(/^Only the JSON object belongs on stdout: .* stderr\.$/) },
  },
  {
    title: 'several objects',
    cites: 'PK-3-07@oneshot',
    stdout: `${good}\n${good}`,
    says: { hint: expect.not.stringMatching(/^One line/) },
  },
  {
    title: 'no object at all',
    cites: 'PK-3-07@oneshot',
    stdout: 'loading rules\n[{}]\n',
    says: { hint: expect.not.stringMatching(/^One line/) },
  },
  {
    title: 'the text that could not be read',
    cites: 'PK-3-05@oneshot',
    stdout: `reply: ${'x'.repeat(600)}`,
    says: { details: { text: `reply: ${'x'.repeat(493)}…` } },
  },
  {
    title: 'no half of a character',
    cites: 'PK-3-05@oneshot',
    stdout: `${'x'.repeat(499)}\u{1f600} and more`,
    says: { details: { text: `${'x'.repeat(499)}…` } },
  },
];

test.each(onTransports(hints))('the fault quotes $title', ({ stdout, says }) => {
  expect(decodeTool(printed(stdout))).toMatchObject({ error: { code: 'REPLY_MALFORMED', ...says } });
});

const broken = [
  { title: 'a lone byte', bytes: [0x7b, 0xff, 0x7d], offset: 1 },
  { title: 'a character that is cut off by the end', bytes: [0x22, 0xe2, 0x82], offset: 1 },
  { title: 'a character that is cut off by another', bytes: [0x22, 0xe2, 0x82, 0x22], offset: 1 },
  { title: 'a surrogate', bytes: [0x22, 0x22, 0xed, 0xa0, 0x80], offset: 2 },
  { title: 'an overlong form', bytes: [0xc0, 0x80], offset: 0 },
  {
    title: 'Latin-1 after good characters',
    bytes: [...Buffer.from('{"a": "é€😀 caf')].concat(0xe9, 0x22),
    offset: 20,
  },
];

test.each(broken)(
  'bytes that are not UTF-8 are refused at their offset: $title [PK-3-03@oneshot]',
  ({ bytes, offset }) => {
    expect(decodeTool(printed(Uint8Array.from(bytes)))).toMatchObject({
      error: { code: 'REPLY_MALFORMED', message: expect.stringContaining(`byte ${offset} `) },
    });
  },
);

test('a real process that prints one byte too many is refused by all three [PK-3-03@oneshot]', async () => {
  expect(await callAll({ runs: ['invalid-utf8.sh'] })).toEqual(refusedMeans);
  expect(await callTool(openBench(), { runs: ['invalid-utf8.sh'] })).toMatchObject({
    error: { message: expect.stringContaining('byte 28 ') },
  });
});

const remarks = [
  {
    title: 'an unknown key',
    cites: 'PK-3-11@oneshot',
    says: '{"result": 1, "score": 1, "allow": true, "took_ms": 3}',
    key: 'took_ms',
    level: 'debug',
  },
  {
    title: 'a near miss of a known key',
    cites: 'PK-3-11@oneshot',
    says: '{"result": 1, "score": 1, "allow": true, "ERROR": 3, "Metadata": {}}',
    key: 'ERROR',
    level: 'warn',
  },
];

test.each(onTransports(remarks))('$title is reported at $level', async ({ on, says, key, level }) => {
  const told = { level, message: expect.stringContaining(`"${key}"`) };
  expect(notesOn(printed(says))).toContainEqual(told);
  const bench = openBench();
  await callTool(bench, answering(on, says));
  expect(bench.events).toContainEqual({
    type: 'note',
    name: 'entry',
    ...told,
  });
});

test('a reply with very many unknown keys causes few notes', () => {
  const members = Array.from({ length: 50_000 }, (_, index) => `"member ${index}": ${index}`);
  const notes = notesOn(printed(`{"result": 1, ${members.join(',')}}`));
  expect(notes).toHaveLength(21);
  expect(notes.at(-1)).toEqual({ level: 'debug', message: 'the reply has 49980 further unknown members' });
});

test('known keys cause no note', () => {
  const says = '{"allow": true, "reason": "", "enforced": false, "metadata": {}, "replace": {"args": {}}}';
  expect(decodeHook(printed(says)).verdict).toBe('modify');
  const levels = notesOn(printed(says)).map(({ message }) => /"(\w+)"/.exec(message)?.[1]);
  expect(levels).toEqual([]);
});

const endings = [
  {
    title: 'an exit code',
    ended: { exitCode: 3, signal: null },
    stderr: '',
    stdout: good,
    error: { code: 'PROCESS_EXIT', message: 'the process exited with code 3' },
  },
  {
    title: 'a signal',
    ended: { exitCode: null, signal: 'SIGSEGV' },
    stderr: '',
    stdout: good,
    error: { code: 'PROCESS_SIGNAL', message: 'the process was ended by SIGSEGV' },
  },
  {
    title: 'the last line of stderr',
    ended: { exitCode: 1, signal: null },
    stderr: 'reading\nno such file  \n\n',
    stdout: '',
    error: { code: 'PROCESS_EXIT', message: 'the process exited with code 1: no such file' },
  },
  {
    title: 'at most 500 characters of that line, and no half of one',
    ended: { exitCode: 1, signal: null },
    stderr: `${'x'.repeat(499)}\u{1f600}y`,
    stdout: '',
    error: {
      code: 'PROCESS_EXIT',
      message: `the process exited with code 1: ${'x'.repeat(499)}\u{1f600}`,
    },
  },
  {
    title: 'the error that stdout carries',
    ended: { exitCode: 1, signal: null },
    stderr: 'trace',
    stdout: '{"error": "the database is locked"}',
    error: { code: 'PROCESS_EXIT', message: 'the database is locked' },
  },
  {
    title: 'not an error that is empty or no text',
    ended: { exitCode: 1, signal: null },
    stderr: 'trace',
    stdout: '{"error": {"a": 1}}',
    error: { code: 'PROCESS_EXIT', message: 'the process exited with code 1: trace' },
  },
  {
    title: 'not what stands in two objects',
    ended: { exitCode: 1, signal: null },
    stderr: 'trace',
    stdout: '{"error": "a"}\n{"error": "b"}',
    error: { code: 'PROCESS_EXIT', message: 'the process exited with code 1: trace' },
  },
];

test.each(endings)(
  'a failed process is reported by $title, whatever it printed',
  ({ ended, stderr, stdout, error }) => {
    const reply = { via: 'process', ...ended, stdout: Buffer.from(stdout), stderr } as const;
    const details = { exit_code: ended.exitCode, signal: ended.signal, stderr };
    expect(decodeTool(reply)).toMatchObject({ status: 'failed', error: { ...error, details } });
    expect(decodeEval(reply)).toMatchObject({ status: 'unscored', error: { ...error, details } });
    expect(decodeHook(reply)).toMatchObject({ verdict: 'deny', error: { ...error, details } });
  },
);

test('the reader throws only its error class', () => {
  expect(() => readBody(new Uint8Array())).toThrow(RuntimeError);
});
