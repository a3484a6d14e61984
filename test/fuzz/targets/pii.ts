import { isObject } from '../../../src/base/json/json.ts';
import { entityNames } from '../../../src/builtins/pii/entity.ts';
import {
  answering,
  asking,
  detector,
  executed,
  executing,
  filter,
  user,
} from '../../builtins/pii/support.ts';
import { coded, holds, isSame, type Target } from '../target.ts';

const detect = detector(entityNames);
const redacting = filter('redact', { entities: entityNames });

export const pii: Target = {
  seeds: [
    'Mail ann.lee@example.com or call +1 (212) 555-0187, card 4111 1111 1111 1111, SSN 078-05-1120.',
    'IBAN DE89 3704 0044 0532 0130 00, 192.168.0.1, 2001:db8::1, 00:1b:44:11:3a:b7, born 1980-02-03, age 44',
    '{"user":{"name":"Dr. Ann Lee","email":"ann@example.com","note":"{\\"ssn\\":\\"078-05-1120\\"}"},"n":4111111111111111}',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789 password: hunter2 https://ann:secret@example.com/x',
    '<EMAIL_ADDRESS_1> &lt;PERSON_2&gt; 12 Main Street, Springfield, IL 62701 \\u0061nn@example.com',
  ],
  tokens: [
    ...[
      '@',
      '.com',
      'ann@example.com',
      '4111111111111111',
      '078-05-1120',
      '+1',
      '212',
      '-',
      ' ',
      '.',
      '(',
      ')',
      '/',
      ':',
    ],
    ...[
      '\\u0040',
      '&#64;',
      '\u200b',
      '\u00ad',
      '\uff20',
      '\uff11',
      'DE89',
      '::',
      'sk-ant-',
      'AKIA',
      'Mr. ',
      'Street',
      '<',
      '>',
    ],
    ...[
      '_1>',
      '{"a":"',
      '"}',
      '\\"',
      '\n',
      '\t',
      '-----BEGIN PRIVATE KEY-----',
      'password=',
      'Bearer ',
      '\ud83d',
      '漢',
    ],
  ],
  maxLength: 250,
  run: (text) => {
    let from = 0;
    for (const { start, end } of detect(text)) {
      holds(start >= from && end > start, 'findings in order', start, end);
      from = end;
    }
    holds(from <= text.length, 'findings within the text');
    const reply = redacting.answer(asking([user(text)]), 0);
    holds(reply['allow'] === true, 'an answer');
    isSame(redacting.answer(asking([user(text)]), 0), reply, 'the same again');
    const call = { messages: [user(text)] };
    for (const payload of [
      answering(call, { content: text }),
      executed(text),
      executing({ a: text, [text]: 1 }),
    ]) {
      const { allow, replace } = coded(() => redacting.answer(payload, 0)) ?? {};
      holds(
        typeof allow === 'boolean' && (replace === undefined || isObject(replace)),
        'an answer of its shape',
      );
    }
  },
};
