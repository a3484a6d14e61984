import { type Content, raw, text } from './printed.ts';

/** Outputs that are no answer in any dialect. */
export const empty: readonly Content[] = [
  ...['', '\n', ' \t\r\n ', '\v\f', '\u00a0\u2028', '\ufeff', '\0'].map((value) =>
    text(`only ${JSON.stringify(value)}`, value),
  ),
  ...[
    'null',
    'true',
    'false',
    '0',
    '1',
    '-0',
    '1e999',
    'NaN',
    'Infinity',
    'undefined',
    'ok',
    'allow',
    'yes',
  ].map((value) => text(`the word ${value}`, value)),
  ...[
    '""',
    '"allow"',
    '"true"',
    '[]',
    '[[]]',
    '[true]',
    '{}',
    '{"a": 1}',
    '{',
    '}',
    '[',
    '"',
    '{"',
    '{}}',
    '{]',
  ].map((value) => text(`the text ${value}`, value)),
];

export function spoiled(answer: string): Content[] {
  const inner = answer.slice(1, -1);
  const withMember = (member: string) => `{${inner === '' ? '' : `${inner}, `}${member}}`;
  const first = /^\s*("(?:[^"\\]|\\.)*")\s*:/.exec(inner)?.[1] ?? '""';
  const key: string = JSON.parse(first);
  const renamed = (name: string) => answer.replace(first, JSON.stringify(name));
  return [
    ...framed(answer),
    ...truncated(answer),
    ...encoded(answer, withMember),
    ...loosened(answer, withMember),
    ...grown(withMember),
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'].flatMap((name) => [
      text(`a key ${name}`, withMember(`"${name}": true`)),
      text(`itself under ${name}`, `{"${name}": ${answer}}`),
      text(`its key ${key} as ${name}`, renamed(name)),
    ]),
    text('its first key escaped', answer.replace(first, escapedKey(key))),
  ];
}

function framed(answer: string): Content[] {
  const around: readonly (readonly [string, string])[] = [
    ['', answer],
    ['', `\n${answer}`],
    ['', ', {}'],
    ['', ' x'],
    ['', '}'],
    ['', ';'],
    ['', '\0'],
    ['', '\ndone'],
    ['', '\n{}'],
    ['ready\n', ''],
    ['log: ', ''],
    ['2026-01-01 INFO start\n', ''],
    ['```json\n', '\n```'],
    [")]}',\n", ''],
    ['HTTP/1.1 200 OK\r\n\r\n', ''],
    ['Content-Length: 20\r\n\r\n', ''],
    ['\u001b[32m', '\u001b[0m'],
    ['[', ']'],
    ['{"result": ', '}'],
    ['{"response": ', '}'],
    ['(', ')'],
    ['var x = ', ''],
    ['null\n', ''],
    ['{}\n', ''],
    ['\0', ''],
    ['data: ', '\n\n'],
    ['\ufeff\ufeff', ''],
    ['\u00a0', ''],
    ['\v', ''],
  ];
  return [
    ...around.map(([before, behind]) =>
      text(
        `${JSON.stringify(before)} before and ${JSON.stringify(behind)} behind`,
        `${before}${answer}${behind}`,
      ),
    ),
    text('as a text in JSON', JSON.stringify(answer)),
    text('with CRLF between its tokens', `${answer.replaceAll(',', ',\r\n')}\r\n`),
    text('with a lone CR between its tokens', `${answer.replaceAll(':', ':\r')}\r`),
    text('over several lines', JSON.stringify(JSON.parse(answer), null, 2)),
  ];
}

function truncated(answer: string): Content[] {
  const classes = new Map<string, number>();
  for (let at = 1; at < answer.length; at += 1) {
    const [before = '', next = ''] = [answer.charAt(at - 1), answer.charAt(at)];
    const kind = `${kindOf(before)}|${kindOf(next)}`;
    if (!classes.has(kind)) classes.set(kind, at);
  }
  const ends = new Set([...classes.values(), answer.length - 1]);
  return [...ends].map((end) =>
    text(`cut behind ${JSON.stringify(answer.slice(0, end))}`, answer.slice(0, end)),
  );
}

function kindOf(character: string): string {
  if (/[a-z]/i.test(character)) return 'letter';
  return /[0-9]/.test(character) ? 'digit' : character;
}

function encoded(answer: string, withMember: (member: string) => string): Content[] {
  const around = (title: string, ...bytes: readonly number[]) => {
    const [before = '', behind = ''] = withMember('"x": "<>"').split('<>');
    return raw(`${title} in a text`, before, bytes, behind);
  };
  const swapped = (value: string) => Buffer.from(value, 'utf16le').swap16();
  return [
    around('a lone continuation byte', 0x80),
    around('an overlong slash', 0xc0, 0xaf),
    around('a surrogate in UTF-8', 0xed, 0xa0, 0x80),
    around('a byte of no encoding', 0xff),
    around('Latin-1', 0xe9),
    around('a NUL byte', 0),
    around('a line break', 0x0a),
    around('an escape byte', 0x1b, 0x5b, 0x32, 0x4a),
    raw('a lone continuation byte in front', [0x80], answer),
    raw('a character cut at the end', answer, [0xe2, 0x82]),
    raw('a byte of no encoding behind', answer, [0xff]),
    raw('an overlong brace', [0xc1, 0xbb], answer.slice(1)),
    text('a byte order mark', `\ufeff${answer}`),
    { title: 'UTF-16 LE', bytes: Buffer.from(answer, 'utf16le') },
    { title: 'UTF-16 BE', bytes: swapped(answer) },
    { title: 'UTF-16 LE with its mark', bytes: Buffer.from(`\ufeff${answer}`, 'utf16le') },
    { title: 'UTF-16 BE with its mark', bytes: swapped(`\ufeff${answer}`) },
    {
      title: 'UTF-16 LE cut in a character',
      bytes: Buffer.from(`\ufeff${answer}`, 'utf16le').subarray(0, -1),
    },
    raw('UTF-32 LE', ...[...answer].map((character) => [character.charCodeAt(0), 0, 0, 0])),
    text('a lone surrogate as an escape', withMember('"x": "\\ud800"')),
    text('a lone surrogate as a key', withMember('"\\udfff": 1')),
    text('half an escape', withMember('"x": "\\u00"')),
    text('an unknown escape', withMember('"x": "\\x41"')),
  ];
}

function loosened(answer: string, withMember: (member: string) => string): Content[] {
  const values = [
    'NaN',
    'Infinity',
    '-Infinity',
    'undefined',
    '0x1',
    '+1',
    '.5',
    '1.',
    '01',
    "'a'",
    '--1',
    'True',
    'None',
  ];
  return [
    text('a comment in front', `/* ok */ ${answer}`),
    text('a comment behind', `${answer} // ok`),
    text('a comment of a shell', `# ok\n${answer}`),
    text('a comma too many', `${answer.slice(0, -1)},}`),
    text('a comma in front', `{,${answer.slice(1)}`),
    text('single quotes', answer.replaceAll('"', "'")),
    text('keys without quotes', answer.replaceAll(/"(\w+)"\s*:/g, '$1:')),
    text('an equals sign', answer.replace(':', '=')),
    text('no comma', withMember('"x": 1 "y": 2')),
    ...values.map((value) => text(`the value ${value}`, withMember(`"x": ${value}`))),
  ];
}

function grown(withMember: (member: string) => string): Content[] {
  const deep = 100_000;
  const code = [
    '${process.exit()}',
    '{{constructor}}',
    '<script>alert(1)</script>',
    '$(reboot)',
    '`id`',
    "'; DROP TABLE runs; --",
    '\\u001b]0;x\\u0007',
    '%s%n',
    '=1+1',
    '../../etc/passwd',
  ];
  return [
    text('lists a hundred thousand deep', withMember(`"x": ${'['.repeat(deep)}${']'.repeat(deep)}`)),
    text('objects a hundred thousand deep', withMember(`"x": ${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`)),
    text('lists a hundred thousand deep, open', withMember(`"x": ${'['.repeat(deep)}`)),
    text('nine hundred lists', withMember(`"x": ${'['.repeat(900)}${']'.repeat(900)}`)),
    text(
      'a hundred thousand keys',
      withMember(Array.from({ length: 100_000 }, (_, at) => `"k${at}":${at}`).join(',')),
    ),
    text('a hundred thousand elements', withMember(`"x": [${'0,'.repeat(99_999)}0]`)),
    text('a text of a mebibyte', withMember(`"x": "${'x'.repeat(1_048_576)}"`)),
    text('a key of a mebibyte', withMember(`"${'x'.repeat(1_048_576)}": 1`)),
    ...[
      '1e999',
      '-1e999',
      '-0',
      '1E400',
      '1e-999',
      '12345678901234567890',
      `${'9'.repeat(100_000)}`,
      `0.${'3'.repeat(100_000)}`,
    ].map((value) => text(`the number ${value.slice(0, 20)}`, withMember(`"x": ${value}`))),
    ...code.map((value) => text(`code: ${value}`, withMember(`"x": ${JSON.stringify(value)}`))),
  ];
}

function escapedKey(key: string): string {
  return `"${key
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')}"`;
}
