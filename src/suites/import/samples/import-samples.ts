import { basename, dirname, extname, resolve } from 'node:path';
import { RuntimeError } from '../../../base/errors.ts';
import type { SourceLocation } from '../../../base/yaml/problem.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { scriptsNamedIn } from '../suite/programs.ts';
import { type ImportedProvider, readProvider, slugOf } from '../suite/providers.ts';
import {
  collectNotes,
  largestWithPlaces,
  type Notes,
  openSourceFiles,
  openText,
  readRows,
  textOfFile,
} from '../suite/source-files.ts';
import {
  answered,
  askedProvider,
  datasetFile,
  type ImportedFile,
  programsOf,
  runtimeFile,
  type SuiteImport,
  suiteFile,
  toSuiteImport,
} from '../suite/suite.ts';
import { escapePattern } from '../suite/template.ts';
import { readSample, type Sample, type SampleKind } from './sample.ts';

interface SampleOptions {
  readonly kind: SampleKind;
  readonly output: string;
  readonly provider: string | undefined;
}

/** Makes a suite of samples. Throws FILE_UNREADABLE, and DATASET_INVALID for a table without a header. */
export async function importSamples(file: string, options: SampleOptions): Promise<SuiteImport> {
  const start = { file, line: 1, column: 1 };
  const notes = collectNotes();
  const samples: Sample[] = [];
  const answered: Source[] = [];
  for await (const row of readSampleRows(file, notes)) {
    const sample = readSample(options.kind, row);
    if (sample === undefined) continue;
    samples.push(sample);
    if (sample.answer !== undefined) answered.push(row);
  }
  const files = openSourceFiles(dirname(resolve(file)), options.output, notes);
  const provider = readProvider(
    notes.open(options.provider ?? 'openai:gpt-4.1', () => start),
    { files, notes },
  );
  const isRecorded = samples.every(({ answer }) => answer !== undefined);
  if (!isRecorded)
    answered[0]?.note(
      'error',
      'an answer is left out, because other samples have none: the run asks the model again for all of them',
    );
  if (samples.length > 0) noteGuesses(options, { isRecorded, start, notes });
  const name = slugOf(basename(file, extname(file)));
  if (samples.length === 0 || (provider === undefined && !isRecorded))
    return toSuiteImport([], 0, notes.all());
  const written = sampleFiles({
    name,
    samples,
    subject: isRecorded ? undefined : provider,
    judge: provider,
    note: (message, hint) => notes.add('error', start, message, hint),
  });
  return toSuiteImport(written, samples.length, notes.all());
}

interface Guesses {
  readonly isRecorded: boolean;
  readonly start: SourceLocation;
  readonly notes: Notes;
}

/** Notes what the other system defines in code rather than in the file. */
function noteGuesses({ kind, provider }: SampleOptions, { isRecorded, start, notes }: Guesses): void {
  if (!isRecorded && provider === undefined)
    notes.add(
      'warning',
      start,
      'no model is named, so openai:gpt-4.1 answers',
      'Name a model with --provider.',
    );
  const message =
    kind === 'inspect'
      ? 'the file does not hold the scorer of its task: the suite uses `includes`, and `choice` where there are choices'
      : 'the file does not hold its metrics: the suite has those that its data allows, as metrics without thresholds';
  notes.add('warning', start, message);
}

/**
 * Yields each object of the file, including those inside `test_cases` and similar lists. Notes other members beside
 * such a list.
 */
async function* readSampleRows(file: string, notes: Notes): AsyncGenerator<Source> {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const format = formatOf(file);
  if ((format === 'json' || format === 'yaml') && text.length <= largestWithPlaces) {
    const root = openText(file, text, notes);
    if (!('fault' in root)) {
      yield* rowsIn(root, notes);
      return;
    }
  }
  const isTable = format === 'csv' || format === 'tsv';
  for await (const { value, at } of readRows({ file, text, format }, notes))
    yield* rowsIn(
      notes.openRow(isTable ? withoutEmpty(value) : value, () => at),
      notes,
    );
}

function rowsIn(root: Source, notes: Notes): readonly Source[] {
  const key = listKeys.find((name) => root.at(name).kind === 'list');
  if (root.kind !== 'list' && key === undefined) return [root];
  return notes.openItems(key === undefined ? root : root.at(key));
}

function withoutEmpty(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== ''));
}

/** The keys of the sample list in files of the supported systems. */
export const listKeys: readonly string[] = ['test_cases', 'testCases', 'goldens', 'samples'];

function formatOf(file: string): 'json' | 'csv' | 'tsv' | 'yaml' | 'jsonl' {
  const ending = extname(file).slice(1);
  if (ending === 'json' || ending === 'csv' || ending === 'tsv' || ending === 'yaml') return ending;
  return ending === 'yml' ? 'yaml' : 'jsonl';
}

interface SampleSuite {
  readonly name: string;
  readonly samples: readonly Sample[];
  readonly subject: ImportedProvider | undefined;
  readonly judge: ImportedProvider | undefined;
  readonly note: (message: string, hint: string) => void;
}

function sampleFiles(given: SampleSuite): readonly ImportedFile[] {
  const { samples, subject, judge } = given;
  const embedder = embedderOf(judge);
  const evals = judgeableEvals(given, evalsOf(samples, embedder !== undefined));
  const needsJudge = evals.some(({ params }) => 'provider' in params);
  const asked = embedder === undefined ? [] : [embedder];
  const judges = needsJudge && judge?.kind === 'chat' ? [{ ...judge.entry, id: 'judge' }, ...asked] : [];
  const providers = subject === undefined ? [] : [subject];
  const runtime = runtimeFile({ name: given.name, providers, graders: judges, tools: programsOf(providers) });
  return [
    runtime,
    datasetFile('cases.jsonl', samples.map(rowOf)),
    ...scriptsNamedIn(runtime.text),
    suiteOf(given, evals),
  ];
}

function judgeableEvals({ judge, note }: SampleSuite, evals: readonly SampleEval[]): readonly SampleEval[] {
  const kept = evals.filter(({ params }) => judge?.kind === 'chat' || !('provider' in params));
  if (kept.length < evals.length)
    note(
      'metrics with a judge are left out, because the provider is not a model',
      'Name a model with --provider.',
    );
  if (kept.length > 0) return kept;
  note('the file has nothing to judge an answer by: every answer passes', 'Add evals to the suite.');
  return [answered];
}

/** Ragas’ default embedding model if the judge uses the OpenAI API too; otherwise undefined. */
function embedderOf(judge: ImportedProvider | undefined): Readonly<Record<string, unknown>> | undefined {
  if (judge?.kind !== 'chat' || judge.entry['type'] !== 'openai' || judge.entry['base_url'] !== undefined)
    return undefined;
  const { credential } = judge.entry;
  return {
    ...{ id: 'embed', type: 'openai', model: 'text-embedding-3-small', role: 'embedding' },
    ...(credential !== undefined && { credential }),
  };
}

function rowOf(sample: Sample, index: number): object {
  const { messages } = sample;
  const system = messages.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('\n');
  return {
    id: sample.id ?? String(index + 1),
    system,
    messages: messages.filter(({ role }) => role !== 'system'),
    question: messages.findLast(({ role }) => role === 'user')?.content ?? '',
    answer: sample.answer ?? '',
    expected: sample.expected,
    ...(sample.choices.length === 0 && { includes: patternOf(sample.expected) }),
    choices: sample.choices,
    contexts: sample.contexts,
    tool_calls: sample.toolCalls,
    expected_tools: sample.expectedTools,
    tags: sample.tags,
  };
}

function patternOf(texts: readonly string[]): string {
  const patterns = texts.map(escapePattern);
  return `(?i)(?:${patterns.join('|')})`;
}

interface SampleEval {
  readonly id: string;
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly if?: string;
  readonly role?: 'metric';
}

function evalsOf(samples: readonly Sample[], canEmbed: boolean): readonly SampleEval[] {
  const some = (test: (sample: Sample) => boolean, ...evals: readonly SampleEval[]) =>
    samples.some(test) ? evals : [];
  const isRecorded = samples.every(({ answer }) => answer !== undefined);
  const hasExpected = ({ expected }: Sample) => expected.length > 0;
  return [
    ...some(({ choices }) => choices.length > 0, {
      id: 'choice',
      type: 'choice',
      if: '${size(case.choices) > 0}',
      params: { expected: '${case.expected[0]}', choices: '${case.choices}' },
    }),
    ...(isRecorded ? [] : some((sample) => hasExpected(sample) && sample.choices.length === 0, includes)),
    ...some(({ expectedTools }) => expectedTools.length > 0, {
      id: 'tools',
      type: 'tools_called',
      if: '${size(case.expected_tools) > 0}',
      params: { tools: '${case.expected_tools}' },
    }),
    ...(isRecorded ? some(hasExpected, tokenF1, factuality) : []),
    ...(isRecorded ? some(({ contexts }) => contexts.length > 0, faithfulness) : []),
    ...(isRecorded ? some((sample) => sample.contexts.length > 0 && hasExpected(sample), recall) : []),
    ...(isRecorded && canEmbed ? some(hasExpected, similarity) : []),
    ...(isRecorded ? [canEmbed ? relevance : judgedRelevance] : []),
  ];
}

const includes: SampleEval = {
  id: 'includes',
  type: 'regex',
  if: '${size(case.expected) > 0 && size(case.choices) == 0}',
  params: { pattern: '${case.includes}' },
};

const hasReference = '${size(case.expected) > 0}';
const hasContexts = '${size(case.contexts) > 0}';

const tokenF1: SampleEval = {
  id: 'token_f1',
  type: 'token_f1',
  if: hasReference,
  params: { expected: '${case.expected}' },
  role: 'metric',
};

const judge = { question: '${case.question}', provider: 'judge' };

const factuality: SampleEval = {
  id: 'factuality',
  type: 'factuality',
  if: hasReference,
  params: { expected: '${case.expected[0]}', ...judge },
  role: 'metric',
};

const faithfulness: SampleEval = {
  id: 'faithfulness',
  type: 'faithfulness',
  if: hasContexts,
  params: { context: '${case.contexts}', ...judge },
  role: 'metric',
};

const recall: SampleEval = {
  id: 'context_recall',
  type: 'context_recall',
  if: '${size(case.contexts) > 0 && size(case.expected) > 0}',
  params: { context: '${case.contexts}', expected: '${case.expected[0]}', ...judge },
  role: 'metric',
};

const similarity: SampleEval = {
  id: 'similarity',
  type: 'similarity',
  if: hasReference,
  params: { expected: '${case.expected}', embedding_provider: 'embed' },
  role: 'metric',
};

const relevance: SampleEval = {
  id: 'answer_relevance',
  type: 'answer_relevance',
  params: { ...judge, embedding_provider: 'embed' },
  role: 'metric',
};

const judgedRelevance: SampleEval = {
  id: 'answer_relevance',
  type: 'llm_judge',
  params: {
    criteria: 'How far the answer is about what the question asks, and complete.',
    extra: { question: '${case.question}' },
    provider: 'judge',
  },
  role: 'metric',
};

function suiteOf({ name, samples, subject }: SampleSuite, evals: readonly SampleEval[]): ImportedFile {
  const hasSystem = samples.some(({ messages }) => messages.some(({ role }) => role === 'system'));
  const chat = { ...(hasSystem && { system: '${case.system}' }), messages: '${case.messages}' };
  const recorded = {
    content: '${case.answer}',
    context: { messages: '${case.messages}', tool_calls: '${case.tool_calls}' },
  };
  const { subject: asked, ...answer } =
    subject === undefined ? { subject: undefined, ...recorded } : askedProvider(subject, chat);
  return suiteFile(name, name, {
    dataset: 'cases.jsonl',
    ...(asked !== undefined && { subject: asked }),
    case: { id: '${case.id}', ...answer, tags: '${case.tags}' },
    evals,
  });
}
