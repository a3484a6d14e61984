import { detectText, readText } from '../../../src/base/text/encoding/decode.ts';
import { createSecretHider } from '../../../src/base/text/hide-secrets.ts';
import { hideCredentials } from '../../../src/runtime/log/redact.ts';
import { bytesOf, holds, inputOf, type Target } from '../target.ts';

const secret = 'hunter2-correct-horse';
const hider = createSecretHider([secret, 'p4ss wörd "quoted"']);

/** Log lines that contain secrets, plain or encoded. */
export const redaction: Target = {
  seeds: [
    `token=${secret} and "password": "x\\"y" Authorization: Bearer abcdefghijklmnopqrst`,
    `${Buffer.from(secret).toString('base64')} ${encodeURIComponent(secret)} ${JSON.stringify(secret)} https://a:${secret}@b/c`,
    `Cookie: a=b; c=d\\npasswd='${secret}' api-key: ${secret}\n\\u0068unter2`,
  ],
  tokens: [
    ...[
      secret,
      'token=',
      'secret:',
      '"',
      "'",
      '\\"',
      '\\\\"',
      '\\',
      'password',
      'api_key',
      ': ',
      '=',
      'Bearer ',
      'basic ',
      '://',
      '@',
      ':',
      '&#104;',
    ],
    ...[
      '%68',
      '\\u0068',
      '\\x68',
      'aHVudGVyMi1jb3JyZWN0LWhvcnNl',
      'authorization=',
      'cookie:',
      '\n',
      '\r',
      ' ',
      '{',
      '}',
      '\u200b',
    ],
  ],
  maxLength: 1_500,
  run: (text) => {
    const hidden = hider.text(text);
    holds(!hidden.includes(secret), 'a secret is left', hidden);
    const stream = hider.stream();
    const size = 1 + (text.length % 7);
    let streamed = '';
    for (let at = 0; at < text.length; at += size) streamed += stream.push(text.slice(at, at + size));
    holds(!(streamed + stream.rest()).includes(secret), 'a secret is left of a stream', streamed);
    hideCredentials(text);
  },
};

/** Bytes as text, with or without a declared encoding. */
export const encodings: Target = {
  seeds: [
    inputOf('plain é 漢字'),
    'caf\u00e9 na\u00efve',
    '\u00ff\u00fea\0b\0',
    '\u00fe\u00ff\0a\0b',
    '\u00ef\u00bb\u00bfx',
    '+AGEAYg- ~{VPND~}',
    '\0\0\0a\0\0\0b',
  ],
  tokens: [
    '\0',
    '\u00ff\u00fe',
    '\u00fe\u00ff',
    '\u00ef\u00bb\u00bf',
    '\u00e9',
    '\u0080',
    '\u009b',
    '\u001b$B',
    '\u001b(B',
    '+AG',
    '~{',
    '%PDF-',
    'a\0',
    '\0a',
    '\u0000\u0000\u00fe\u00ff',
  ],
  maxLength: 300,
  run: (input) => {
    const bytes = bytesOf(input);
    for (const declared of [undefined, 'utf-8', 'utf-16', 'iso-8859-1', 'shift_jis', 'utf-7', 'x-unknown']) {
      const read = readText(bytes, declared);
      holds(read === undefined || typeof read.text === 'string', 'a text');
    }
    detectText(bytes);
  },
};
