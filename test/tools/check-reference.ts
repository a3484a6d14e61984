import type { Check, CheckExample, ParamSpec } from '../../src/checks/check.ts';
import { checks } from '../../src/checks/registry.ts';
import { isObject } from '../../src/json/json.ts';

/** docs/checks.md, from the definitions: every built-in check with its params and an example. */
export function renderCheckReference(): string {
  const sections = families.map(({ family, title, text }) => {
    const members = checks.filter((check) => check.family === family);
    return [`## ${title}`, ...(text === '' ? [] : [text]), ...members.map(renderCheck)].join('\n\n');
  });
  return `${[introduction, renderTypes(), ...sections].join('\n\n')}\n`;
}

const introduction = `# Built-in checks

Written from the code by \`npm run schemas\`. A check is an eval that needs no process: name its type wherever an eval is named, as the
\`type\` of a suite’s eval, the \`eval\` of a pipeline’s step, or in \`signalbox eval call\`. Types, params and their other names are PromptKit’s
where PromptKit has them.

\`\`\`yaml
evals:
  - {id: polite, type: contains_any, params: {patterns: [please, thank you]}}
  - {id: short, type: max_length, params: {max: 400}, threshold: {min_score: 0.9}}
\`\`\`

- An eval of that name in \`spec.evals\` of the runtime takes the place of the check.
- Params are checked when the file is read: an unknown one, one that is missing, a value of the wrong type, a pattern or schema that
  cannot be compiled. A value with \`\${…}\` in it is checked once it is known; where it is wrong, the eval is unscored.
- What a check cannot judge is *unscored*, never 0: params that cannot be used, no judge, no embedding, work that took too long.
  Unscored never passes.
- Regular expressions, JMESPath and JSON Schemas are worked through beside the program, and given up after a second.
- Lengths count Unicode code points. “In any case” also means in either spelling: \`é\` is \`É\`, as one character or two.`;

const families = [
  {
    family: 'text',
    title: 'Text',
    text: `A regular expression has JavaScript’s meaning. It may begin with \`(?i)\` (any case), \`(?s)\` (\`.\` is any character) or \`(?m)\`
(\`^\` and \`$\` at every line). What other engines write differently, such as \`\\A\`, \`\\z\`, \`(?P<name>…)\` and \`[[:alpha:]]\`, is refused.`,
  },
  { family: 'json', title: 'JSON', text: '' },
  { family: 'tools', title: 'Tool calls', text: '' },
  { family: 'budget', title: 'Budgets', text: '' },
  { family: 'judge', title: 'Judged by a model', text: '' },
] as const satisfies readonly { family: Check['family']; title: string; text: string }[];

function renderTypes(): string {
  const rows = families.map(({ family, title }) => {
    const members = checks.filter((check) => check.family === family);
    return `| ${title} | ${members.map(({ type }) => `[\`${type}\`](#${type})`).join(', ')} |`;
  });
  return ['| family | types |', '| --- | --- |', ...rows].join('\n');
}

function renderCheck(check: Check): string {
  const aliases = check.aliases.length === 0 ? '' : ` Other names: ${listCode(check.aliases)}.`;
  const head = `### ${check.type}\n\n${check.summary} Score: ${ranges[check.range]}.${aliases}`;
  const groups = (check.anyOf ?? []).map((group) => `One of ${listCode(group)} must be there.`);
  return [head, ...renderParams(check.params), ...groups, renderExample(check)].join('\n\n');
}

const ranges: Readonly<Record<Check['range'], string>> = {
  '0 or 1': '0 or 1',
  ratio: 'a ratio, 0 to 1',
  '0..1': '0 to 1',
};

function renderParams(params: Check['params']): string[] {
  const rows = Object.entries(params).map(([name, spec]) => {
    const names = [name, ...(spec.aliases ?? [])].map((word) => `\`${word}\``).join(', ');
    return `| ${names} | ${describeType(spec.schema)} | ${describeNeed(spec)} | ${escapeCell(spec.description)} |`;
  });
  return rows.length === 0 ? [] : [['| param | type | | |', '| --- | --- | --- | --- |', ...rows].join('\n')];
}

function describeNeed(spec: ParamSpec): string {
  if (spec.required) return 'required';
  return spec.default === undefined ? '' : `default \`${JSON.stringify(spec.default)}\``;
}

function describeType(schema: unknown): string {
  if (!isObject(schema)) return 'any';
  const { type, enum: choices, anyOf, items } = schema;
  if (Array.isArray(choices)) return choices.map((choice) => `\`${String(choice)}\``).join(', ');
  if (Array.isArray(anyOf)) return anyOf.map(describeType).join(' or ');
  if (type === 'array') return isObject(items) ? `list of ${typeNames(items['type'])}` : 'list';
  return typeNames(type);
}

function typeNames(type: unknown): string {
  const types = Array.isArray(type) ? type : [type];
  return types.map((name) => (name === undefined ? 'any' : String(name))).join(' or ');
}

function renderExample({ type, example }: Check): string {
  const lines = [
    `${type} ${JSON.stringify(example.params)}`,
    ...(example.content === undefined ? [] : [`content ${JSON.stringify(example.content)}`]),
    ...(example.context === undefined ? [] : [`context ${JSON.stringify(example.context)}`]),
    ...(example.judge === undefined ? [] : [`the judge answers ${JSON.stringify(example.judge)}`]),
    `score ${showScore(example)}`,
  ];
  return ['```text', ...lines, '```'].join('\n');
}

function showScore({ score }: CheckExample): string {
  return String(Math.round(score * 10_000) / 10_000);
}

function listCode(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
