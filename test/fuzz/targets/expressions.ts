import {
  compileExpressions,
  ExpressionError,
  findExpressionErrors,
} from '../../../src/base/expression/expression.ts';
import { findReferences } from '../../../src/base/expression/references.ts';
import { splitTemplate } from '../../../src/base/expression/template.ts';
import { parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { coded, holds, isSame, type Target } from '../target.ts';

const data = [
  '{"a":1,"l":[1,2.5,"x",null,{"b":true}],"s":"refund me","m":{"k":"v","__proto__":{"x":1},"constructor":2},"n":12345678901234567890}',
  '[]',
  '"text"',
];
const words = [
  ...[
    'input',
    'steps',
    'item',
    'input.a',
    'input.l',
    'input.m',
    'input.s',
    '.?k',
    '.b',
    '[0]',
    '["k"]',
    'has(',
    ')',
  ],
  ...[
    '.map(x, ',
    '.filter(x, ',
    '.all(x, ',
    '.exists(x, ',
    '.size()',
    'size(',
    '.matches("',
    '.split("',
    '.join("',
  ],
  ...[
    '.contains("',
    '.indexOf("',
    '.startsWith("',
    'int(',
    'double(',
    'string(',
    'bytes(',
    'timestamp(',
    'duration("1s")',
  ],
  ...[
    'type(',
    'dyn(',
    ' + ',
    ' - ',
    ' * ',
    ' / ',
    ' % ',
    ' == ',
    ' in ',
    ' && ',
    ' || ',
    ' ? ',
    ' : ',
    '!',
    'true',
    'null',
  ],
  ...[
    '1',
    '1.5',
    '1u',
    '9223372036854775807',
    '-9223372036854775808',
    '"x"',
    "'''",
    '"""',
    'r"',
    'b"',
    '{',
    '}',
    '[',
    ']',
  ],
  ...[
    '{"a": 1}',
    '.orValue(1)',
    'optional.of(',
    'cel.bind(x, ',
    '(a+)+$',
    '(?=a)',
    '__proto__',
    'constructor',
    'prototype',
  ],
  ...['.toString', '.getHours()', '.lowerAscii()', '.trim()', '.format(', '.last()', 'x', ', ', '//', '\\'],
];

/** CEL over JSON data: the data on the first line, then the code. */
export const expressions: Target = {
  seeds: [
    `${data[0]}\ninput.a + 1 > 2 && input.l.exists(x, x == "x")`,
    `${data[0]}\ninput.l.map(x, string(x)).join(", ").split(",", 2)[0].matches("^[0-9]+$")`,
    `${data[0]}\nhas(input.m.k) ? input.m["k"] : input.?zz.orValue({"a": [1, 2u, 1.5, b"x"]})`,
    `${data[0]}\nduration("90s").getMinutes() + int(timestamp("2020-01-01T00:00:00Z").getHours()) * 2`,
    `${data[1]}\n{"x": input.size() % 3, "y": [for]}`,
    `${data[2]}\ninput.startsWith("t") ? input + "x" : input.contains("e")`,
  ],
  tokens: words,
  maxLength: 500,
  run: (input) => {
    const at = input.indexOf('\n');
    const [head, code] = at === -1 ? ['{}', input] : [input.slice(0, at), input.slice(at + 1)];
    const scope = { input: tryLossless(head), steps: {} };
    const text = `\${${code}}`;
    findReferences({ text }, ['input']);
    const problems = findExpressionErrors(text, ['input', 'steps']);
    const compiled = expected(() => compileExpressions(text, ['input', 'steps']));
    holds((compiled === undefined) === problems.length > 0, 'problems and errors agree');
    if (compiled === undefined) return;
    const before = stringifyJson(scope);
    const value = coded(() => compiled.evaluate(scope));
    if (value !== undefined) JSON.parse(stringifyJson(value));
    isSame(stringifyJson(scope), before, 'the data is left alone');
    if (!/now|random/.test(code))
      isSame(
        coded(() => compiled.evaluate(scope)),
        value,
        'again',
      );
  },
};

function tryLossless(text: string): unknown {
  try {
    return parseLossless(text);
  } catch {
    return { a: 1, l: [1, 2], s: 'text' };
  }
}

function expected<Value>(read: () => Value): Value | undefined {
  try {
    return coded(read);
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

export const templates: Target = {
  seeds: [
    'Hello ${input.name}, $${x} and ${ {"a": "}"}["a"] } ${\'\'\' } \'\'\'}',
    '${"""}"""} // ${// }\n1}',
  ],
  tokens: ['${', '$${', '}', '{', '"', "'", '"""', "'''", '\\', '//', '\n', 'input', '.a', '$', ' '],
  maxLength: 400,
  run: (text) => {
    const parts = expected(() => splitTemplate(text, []));
    const evaluated = expected(() => compileExpressions(text, ['input']).evaluate({ input: { a: 1 } }));
    if (parts === undefined) {
      holds(evaluated === undefined, 'no closing brace');
      return;
    }
    const literals = parts.filter((part) => typeof part === 'string');
    const isPlain = literals.length === parts.length;
    if (isPlain) holds(literals.join('') === text.replaceAll('$${', '${'), 'a text without code');
    if (isPlain) holds(evaluated === literals.join(''), 'is its own value', evaluated);
    for (const part of parts) if (typeof part !== 'string') holds(text.includes(part.code), 'the code');
  },
};
