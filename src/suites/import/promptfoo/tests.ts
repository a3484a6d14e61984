import { basename, extname } from 'node:path';
import type { Source } from '../../../base/yaml/source.ts';
import { type Notes, readRows, type SourceFiles, textOfFile } from '../suite/source-files.ts';
import { splitList } from './assertion-types.ts';

/** The parts of a test in rising precedence; a scenario makes several parts. */
export type GivenTest = readonly Source[];

interface TestContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
}

export async function readTests(given: Source, context: TestContext): Promise<readonly Source[]> {
  if (!given.isGiven) return [];
  if (given.kind !== 'list') return await readSource(given, context);
  const tests: Source[] = [];
  for (const each of given.items()) {
    if (each.kind === 'text' || each.at('path').kind === 'text')
      for (const test of await readSource(each, context)) tests.push(test);
    else if (each.kind === 'mapping') tests.push(each);
    else each.leave('a test that is not a mapping is left out');
  }
  return tests;
}

async function readSource(given: Source, context: TestContext): Promise<readonly Source[]> {
  const name = given.text() ?? given.at('path').text();
  if (name === undefined || /^(https?|huggingface|az|s3|gs):/.test(name)) {
    given.leave('tests from another address are left out', 'Save them next to the config.');
    return [];
  }
  const names = context.files.match(name);
  if (names.length === 0) given.leave(`no file matches ${name}`);
  const tests: Source[] = [];
  for (const file of names) {
    const found = await readFile(file, context);
    if ('fault' in found) given.note('error', found.fault, found.hint);
    else for (const test of found.tests) tests.push(test);
  }
  return tests;
}

type Read = { readonly tests: readonly Source[] } | { readonly fault: string; readonly hint?: string };

async function readFile(name: string, { files, notes }: TestContext): Promise<Read> {
  const ending = extname(name);
  if (!['.csv', '.tsv', '.jsonl', '.json', '.yaml', '.yml'].includes(ending))
    return {
      fault: `the tests of ${basename(name)} come from a program`,
      hint: 'Write them to a JSON Lines file.',
    };
  const format = ({ '.jsonl': 'jsonl', '.tsv': 'tsv', '.csv': 'csv' } as const)[ending];
  if (format === undefined) {
    const root = files.open(name);
    if ('fault' in root) return root;
    if (root.kind === 'list') return { tests: notes.openItems(root) };
    if (root.kind !== 'mapping') root.leave('an entry that is not a test is left out');
    return { tests: root.kind === 'mapping' ? [root] : [] };
  }
  const found = files.find(name);
  if ('fault' in found) return found;
  const text = textOfFile(found.file);
  if (typeof text !== 'string') return text;
  const tests: Source[] = [];
  for await (const { value, at } of readRows({ file: found.file, text, format }, notes)) {
    const row = notes.openRow(value, () => at);
    tests.push(format === 'jsonl' ? row : notes.openRow(testOfRow(row), () => at));
  }
  return { tests };
}

export async function readScenarios(given: Source, context: TestContext): Promise<readonly GivenTest[]> {
  const found: GivenTest[] = [];
  for (const scenario of given.kind === 'list' ? given.items() : given.isGiven ? [given] : []) {
    if (scenario.kind !== 'mapping') {
      scenario.leave('a scenario that is not a mapping is left out');
      continue;
    }
    if (scenario.at('description').isGiven)
      scenario.at('description').leave('`description` of a scenario is left out', undefined, 'note');
    const configs = await readTests(scenario.at('config'), context);
    const given = scenario.at('tests');
    const tests = given.isGiven ? await readTests(given, context) : [undefined];
    for (const config of configs)
      for (const test of tests) found.push(test === undefined ? [config] : [config, test]);
  }
  return found;
}

type Mapping = Readonly<Record<string, unknown>>;

/** Reads a row as promptfoo's `testCaseFromCsvRow` does. Columns with two leading underscores are not variables. */
export function testOfRow(row: Source): Mapping {
  const vars: Record<string, unknown> = {};
  const asserts: Record<string, unknown>[] = [];
  const thresholds: (readonly [Source, number, number])[] = [];
  const metadata: Record<string, unknown> = {};
  const more: Record<string, unknown> = {};
  let metric = '';
  for (const [name, cell] of row.members()) {
    const column = name.trim();
    const config = /^__config:__expected([1-9]\d*)?:threshold$/.exec(column);
    if (!column.startsWith('__')) vars[column] = cell.whole();
    else if (column.startsWith('__expected')) {
      const text = cell.scalar()?.trim() ?? '';
      if (text !== '') asserts.push(assertionOf(text, cell));
    } else if (column === '__description') more['description'] = cell.text();
    else if (column === '__metric') metric = cell.text() ?? '';
    else if (column === '__threshold') more['threshold'] = numberOf(cell);
    else if (column.startsWith('__metadata:')) addMetadata(metadata, column.slice(11), cell.scalar() ?? '');
    else if (config !== null) {
      const threshold = numberOf(cell);
      if (threshold !== undefined) thresholds.push([cell, Number(config[1] ?? 1) - 1, threshold]);
    } else cell.word('');
  }
  for (const [cell, index, threshold] of thresholds)
    if (asserts[index] === undefined)
      cell.leave('a threshold of an assertion that does not exist is left out');
    else asserts[index]['threshold'] = threshold;
  return {
    vars,
    assert: asserts.map((each) => (metric === '' ? each : { ...each, metric })),
    ...more,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function numberOf(cell: Source): number | undefined {
  const text = cell.scalar()?.trim() ?? '';
  const isNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  if (isNumber && Number.isFinite(Number(text))) return Number(text);
  if (text !== '') cell.leave(`the threshold ${JSON.stringify(text)} is not a number, and is left out`);
  return undefined;
}

/** A key with the suffix `[]` has a list of values separated by commas. A backslash escapes a comma. */
function addMetadata(metadata: Record<string, unknown>, key: string, text: string): void {
  if (text.trim() === '') return;
  if (!key.endsWith('[]')) metadata[key] = text;
  else metadata[key.slice(0, -2)] = text.split(/(?<!\\),/).map((each) => each.trim().replaceAll('\\,', ','));
}

/** Accepts `type(threshold): value` and the short forms for code and judges. Any other text must equal the answer. */
function assertionOf(text: string, cell: Source): Record<string, unknown> {
  const code =
    /^(?:javascript|fn|eval):([\s\S]*)$/.exec(text) ?? /^(file:\/\/.*\.[cm]?[jt]s(?::\w+)?)$/.exec(text);
  if (code !== null) return { type: 'javascript', value: code[1]?.trim() };
  const judged = /^(?:grade|llm-rubric):([\s\S]*)$/.exec(text);
  if (judged !== null) return { type: 'llm-rubric', value: judged[1] };
  const python = /^python:([\s\S]*)$/.exec(text);
  if (python !== null) return { type: 'python', value: python[1]?.trim() };
  if (/^file:\/\/.*\.py(?::\w+)?$/.test(text)) return { type: 'python', value: text };
  const typed = typePattern.exec(text);
  if (typed === null) return { type: 'equals', value: text };
  const [, type = '', base = '', threshold, value] = typed;
  if (/-(?:any|all)$/.test(base) && value !== undefined) {
    const list = splitList(value);
    if (!('fault' in list)) return { type, value: list.values };
    cell.note('error', list.fault);
  }
  const measured = measuredTypes.has(base) && {
    threshold: threshold === undefined ? (base === 'similar' ? 0.8 : 0.75) : Number(threshold),
  };
  return { type, value: value?.trim(), ...measured };
}

const measuredTypes: ReadonlySet<string> = new Set(
  'answer-relevance classifier context-faithfulness context-recall context-relevance cost latency levenshtein perplexity perplexity-score rouge-n similar starts-with'.split(
    ' ',
  ),
);

/** `BaseAssertionTypesSchema` of promptfoo 0.121. A text with any other prefix must equal the answer. */
const types = [
  ...measuredTypes,
  ...'agent-rubric bleu contains contains-all contains-any contains-html contains-json contains-sql contains-xml conversation-relevance equals factuality finish-reason g-eval gleu guardrails icontains icontains-all icontains-any is-html is-json is-refusal is-sql is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call is-xml javascript llm-rubric meteor model-graded-closedqa model-graded-factuality moderation pi python regex ruby search-rubric similar:cosine similar:dot similar:euclidean skill-used tool-call-f1 trace-error-spans trace-span-count trace-span-duration trajectory:goal-success trajectory:step-count trajectory:tool-args-match trajectory:tool-sequence trajectory:tool-used webhook word-count'.split(
    ' ',
  ),
];
const typePattern = new RegExp(
  `^((?:not-)?(${types.join('|')}))(?:\\((\\d+(?:\\.\\d+)?)\\))?(?::([\\s\\S]*))?$`,
);
