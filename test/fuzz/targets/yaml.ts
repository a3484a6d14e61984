import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument, type YamlDocument } from '../../../src/base/yaml/document.ts';
import { valueAt } from '../../../src/base/yaml/read.ts';
import { holds, type Target } from '../target.ts';

const folder = join(import.meta.dirname, '../../fixtures/config');

export const yaml: Target = {
  seeds: [
    ...readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8').slice(0, 700)),
    'a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}, "e": !!binary aGk=}\n? f\n: |\n  text\n',
    "- \"q\\u0041\"\n- 'it''s'\n- >-\n  folded\n  text\n- 0x1F\n- .inf\n- 1_000\n- ~\n- 2020-01-01\n",
    '{"json": [1, {"a": null}], "b": "\\ud83d\\ude00"}',
  ],
  tokens: [
    ...[
      ': ',
      '- ',
      '\n',
      '\n  ',
      '\n    ',
      '? ',
      '|',
      '>',
      '|+2',
      '&a ',
      '*a',
      '<<: *a',
      '<<: ',
      '!!binary ',
      '!x ',
      '%YAML 1.1\n',
    ],
    ...[
      '---\n',
      '...\n',
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      "'",
      '#',
      '~',
      '.inf',
      '.nan',
      '0x',
      '1e999',
      '__proto__: ',
      'constructor: ',
    ],
    ...[
      '\t',
      '\r\n',
      '\ufeff',
      '\0',
      '\u0085',
      '\u2028',
      '&a [*a]',
      '- - - ',
      '? ? ',
      '&a &b ',
      '"\\',
      'null',
      'true',
    ],
  ],
  maxLength: 1_000,
  run: (text) => {
    const document = parseDocument('a.yaml', text);
    const { value, problems } = document;
    const isBroken = problems.some(({ severity }) => severity === 'error');
    holds(isBroken || value !== undefined, 'a value or an error');
    for (const { line, column, message } of problems) {
      holds(
        line >= 1 && column >= 1 && line <= text.split('\n').length + 1,
        'where a problem is',
        line,
        column,
      );
      holds(message !== '' && message.length < 2_000, 'what a problem says', message);
    }
    if (value !== undefined) walk(document, value, []);
  },
};

function walk(document: YamlDocument, value: unknown, path: readonly (string | number)[]): void {
  if (path.length > 12) return;
  const { line, column } = document.positionOf(path);
  holds(line >= 1 && column >= 1, 'a place', path);
  document.sourceOf(path);
  holds(['string', 'number', 'boolean', 'object'].includes(typeof value), 'a value of JSON', typeof value);
  if (typeof value !== 'object' || value === null) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  holds(prototype === Object.prototype || prototype === Array.prototype || prototype === null, 'a prototype');
  const keys = Array.isArray(value) ? [...value.keys()].slice(0, 5) : Object.keys(value).slice(0, 20);
  for (const key of keys) {
    holds(valueAt(document, [...path, key]) === Reflect.get(value, key), 'the value at its path', path, key);
    walk(document, Reflect.get(value, key), [...path, key]);
  }
}
