import { stringifyJson } from '../../json/json.ts';
import type { ImportedProvider } from '../promptfoo/providers/providers.ts';
import { scriptsNamedIn } from '../promptfoo/scripts/scripts.ts';
import type { Sample } from './sample.ts';
import { type ImportedFile, runtimeYamlOf, yamlOf } from './suite-import.ts';

/** Samples, and who answers and judges them. */
export interface SampleSuite {
  readonly name: string;
  readonly samples: readonly Sample[];
  /** Undefined where every sample has its answer. */
  readonly subject: ImportedProvider | undefined;
  readonly judge: ImportedProvider | undefined;
  readonly note: (message: string, hint: string) => void;
}

/** The runtime, the cases and the suite of these samples. */
export function sampleFiles(given: SampleSuite): readonly ImportedFile[] {
  const { samples, subject, judge } = given;
  const embedder = embedderOf(judge);
  const evals = judgeableEvals(given, evalsOf(samples, embedder !== undefined));
  const needsJudge = evals.some(({ params }) => 'provider' in params);
  const asked = embedder === undefined ? [] : [embedder];
  const judges = needsJudge && judge?.kind === 'chat' ? [{ ...judge.entry, id: 'judge' }, ...asked] : [];
  const models = subject === undefined || subject.kind === 'tool' ? [] : [subject.entry];
  const runtime = {
    apiVersion: 'signalbox/v1',
    kind: 'RuntimeConfig',
    metadata: { name: given.name },
    spec: {
      ...(models.length + judges.length > 0 && { providers: [...models, ...judges] }),
      ...(subject?.kind === 'tool' && { tools: { [subject.name]: subject.entry } }),
    },
  };
  return [
    { name: 'runtime.yaml', text: runtimeYamlOf(runtime) },
    {
      name: 'cases.jsonl',
      text: samples.map((sample, index) => `${stringifyJson(rowOf(sample, index))}\n`).join(''),
    },
    ...scriptsNamedIn(yamlOf(runtime)),
    { name: `${given.name}.suite.yaml`, text: yamlOf(suiteOf(given, evals)) },
  ];
}

/** Those that the judge can answer; where none is left, one that asks for an answer alone. */
function judgeableEvals({ judge, note }: SampleSuite, evals: readonly SampleEval[]): readonly SampleEval[] {
  const kept = evals.filter(({ params }) => judge?.kind === 'chat' || !('provider' in params));
  if (kept.length < evals.length)
    note(
      'metrics that a model judges are left out: the provider is no model',
      'Name a model with --provider.',
    );
  if (kept.length > 0) return kept;
  note(
    'the file says nothing that an answer is judged by: that there is one is all that counts',
    'Add evals to the suite.',
  );
  return [{ id: 'answered', type: 'regex', params: { pattern: '^' } }];
}

/** Ragas’ usual model that embeds, where the judge is one of OpenAI’s too; undefined for other APIs. */
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

/** A pattern that finds any of the texts, in any case. */
function patternOf(texts: readonly string[]): string {
  const patterns = texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return `(?i)(?:${patterns.join('|')})`;
}

interface SampleEval {
  readonly id: string;
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly if?: string;
  readonly role?: 'metric';
}

/** The evals that some of the samples can feed; a sample that cannot feed one is not asked it. */
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

function suiteOf({ name, samples, subject }: SampleSuite, evals: readonly SampleEval[]): object {
  const hasSystem = samples.some(({ messages }) => messages.some(({ role }) => role === 'system'));
  const chat = {
    provider: subject?.name,
    ...(hasSystem && { system: '${case.system}' }),
    messages: '${case.messages}',
  };
  const tool = { tool: subject?.name, args: { prompt: '${case.question}', vars: {} } };
  const made = subject?.kind === 'tool' ? '${subject.result.text}' : undefined;
  const content = subject === undefined ? '${case.answer}' : made;
  return {
    apiVersion: 'signalbox/v1',
    kind: 'EvalSuite',
    metadata: { name },
    spec: {
      runtime: './runtime.yaml',
      dataset: { path: 'cases.jsonl' },
      ...(subject !== undefined && { subject: subject.kind === 'tool' ? tool : { chat } }),
      case: {
        id: '${case.id}',
        ...(content !== undefined && { content }),
        ...(subject === undefined && {
          context: { messages: '${case.messages}', tool_calls: '${case.tool_calls}' },
        }),
        tags: '${case.tags}',
      },
      evals,
    },
  };
}
