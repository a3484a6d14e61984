import { stringifyJson } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/parse.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { asScalar, type KeyTable, readKeys, type TakeFirst } from '../suite/keys.ts';

type Mapping = Readonly<Record<string, unknown>>;

interface SampleMessage {
  readonly role: string;
  readonly content: string;
}

/** A question with the known answers and data from another system. */
export interface Sample {
  readonly id: string | undefined;
  readonly messages: readonly SampleMessage[];
  /** Undefined if a provider has to make the answer. */
  readonly answer: string | undefined;
  /** Accepted answers; for a multiple choice question, its letter. */
  readonly expected: readonly string[];
  readonly choices: readonly string[];
  readonly contexts: readonly string[];
  readonly toolCalls: readonly Mapping[];
  readonly expectedTools: readonly string[];
  readonly tags: readonly string[];
}

interface SampleFormat {
  readonly messages: TakeFirst<readonly SampleMessage[] | undefined>;
  readonly missing: string;
  readonly members: KeyTable<Partial<Sample>>;
  readonly more?: (sample: Sample, row: Source) => Sample;
}

const noMembers = {
  id: undefined,
  answer: undefined,
  expected: [],
  choices: [],
  contexts: [],
  toolCalls: [],
  expectedTools: [],
  tags: [],
};

/** The sample formats of Inspect AI, DeepEval (test cases and goldens, from Python, JSON or `save_as`) and Ragas. */
export const sampleFormats = {
  inspect: {
    messages: [['input'], messagesOf],
    missing: 'a sample whose `input` is neither text nor a list of text messages is left out',
    members: {
      read: {
        id: asScalar,
        choices: textsOf,
        answer: [['output'], answerOf],
        expected: [['target'], textsOf],
      },
    },
    more: (sample, row) => {
      const { id, choices, messages } = sample;
      const epoch = row.at('epoch').number() ?? 1;
      return {
        ...sample,
        id: epoch > 1 && id !== undefined ? `${id}-${epoch}` : id,
        messages: choices.length === 0 ? messages : withChoices(messages, choices),
        choices: choices.map((_, index) => letters[index] ?? String(index + 1)),
      };
    },
  },
  deepeval: {
    messages: [['input'], messagesOf],
    missing: 'a test case whose `input` is not text is left out',
    members: {
      read: {
        id: [['name'], (given) => given.text() || undefined],
        answer: [['actual_output', 'actualOutput'], (given) => textsOf(given)[0] || undefined],
        expected: [['expected_output', 'expectedOutput'], filledTexts],
        contexts: [['retrieval_context', 'retrievalContext'], textsOfCell],
        toolCalls: [['tools_called', 'toolsCalled'], toolCallsOf],
        expectedTools: [['expected_tools', 'expectedTools'], toolNames],
        tags: textsOfCell,
      },
    },
    // `context` is the ideal context. It replaces the retrieved contexts only if there are none.
    more: (sample, row) =>
      sample.contexts.length > 0 ? sample : { ...sample, contexts: textsOfCell(row.at('context')) },
  },
  ragas: {
    messages: [['user_input', 'question'], messagesOf],
    missing: 'a sample whose `user_input` is neither text nor a list of text messages is left out',
    members: {
      read: {
        answer: [['response', 'answer'], (given) => given.text() || undefined],
        expected: [['reference', 'ground_truth', 'ground_truths'], filledTexts],
        contexts: [['retrieved_contexts', 'contexts'], textsOfCell],
        expectedTools: [['reference_tool_calls'], toolNames],
      },
    },
    // The answer of the last turn is used.
    more: (sample) => {
      const last = sample.messages.at(-1);
      if (last?.role !== 'assistant' || sample.messages.length < 2) return sample;
      return { ...sample, messages: sample.messages.slice(0, -1), answer: sample.answer ?? last.content };
    },
  },
} as const satisfies Readonly<Record<string, SampleFormat>>;

export type SampleKind = keyof typeof sampleFormats;

/** Returns undefined, with a note, for an invalid row. Notes keys that are not imported. */
export function readSample(kind: SampleKind, row: Source): Sample | undefined {
  const format: SampleFormat = sampleFormats[kind];
  const { messages } = readKeys(row, { read: { messages: format.messages } });
  if (messages === undefined) {
    const [[key = '']] = format.messages;
    if (row.at(key).isGiven) row.leave(format.missing);
    else
      row.leave(
        `the row has no \`${key}\`, which every sample needs (its keys: ${row.keys().join(', ')})`,
        `Rename the key that holds the question to \`${key}\`, or name the system that the file comes from with --from.`,
      );
    return undefined;
  }
  const sample: Sample = { messages, ...noMembers, ...readKeys(row, format.members) };
  return format.more?.(sample, row) ?? sample;
}

function filledTexts(source: Source): readonly string[] {
  return textsOf(source).filter((each) => each !== '');
}

function toolNames(source: Source): readonly string[] {
  return toolCallsOf(source).map(({ name }) => String(name));
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

function answerOf(output: Source): string | undefined {
  const [first] = output.at('choices').items();
  const message = first?.at('message');
  message?.at('role').word('assistant');
  const parts = message?.at('content').items() ?? [];
  const texts = parts.flatMap((part) => (part.at('type').word('text') ? (part.at('text').text() ?? []) : []));
  const isWhole = parts.length > 0 && texts.length === parts.length;
  const completion = output.at('completion').text();
  return message?.at('content').text() ?? (isWhole ? texts.join('\n') : completion);
}

function withChoices(
  messages: readonly { readonly role: string; readonly content: string }[],
  choices: readonly string[],
): readonly { readonly role: string; readonly content: string }[] {
  const lines = choices.map((choice, index) => `${letters[index] ?? index + 1}) ${choice}`);
  const asked = 'Answer with the letter of one choice, on a line of its own: ANSWER: LETTER';
  const last = messages.length - 1;
  return messages.map((message, index) =>
    index === last ? { ...message, content: [message.content, '', ...lines, '', asked].join('\n') } : message,
  );
}

function textsOf(source: Source): readonly string[] {
  const only = source.scalar();
  if (only !== undefined) return [only];
  return source.items().flatMap((each) => each.scalar() ?? []);
}

/** In a cell, texts are separated by a bar or stored as a JSON list. */
function textsOfCell(source: Source): readonly string[] {
  if (source.kind !== 'text') return textsOf(source);
  const cell = source.text() ?? '';
  const list = listIn(cell);
  const texts = list?.filter((each) => typeof each === 'string');
  if (texts !== undefined && texts.length === list?.length) return texts;
  return cell.split('|').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
}

function listIn(cell: string): readonly unknown[] | undefined {
  const value = /^\s*\[/.test(cell) ? tryParse(cell) : undefined;
  return Array.isArray(value) ? value : undefined;
}

/** Accepts a text or a list with roles; otherwise undefined, and nothing counts as read. */
function messagesOf(source: Source): readonly SampleMessage[] | undefined {
  if (source.kind === 'text') return [{ role: 'user', content: source.text() ?? '' }];
  const items = source.items();
  const isTalk = items.every((each) => roleOf(each) !== undefined && each.at('content').kind === 'text');
  if (items.length === 0 || !isTalk) return undefined;
  return items.map((each) => {
    const role = roleOf(each) ?? 'user';
    each.at('type').text();
    return { role, content: each.at('content').text() ?? '' };
  });
}

function roleOf(message: Source): string | undefined {
  const role = message.at('role').text() ?? message.at('type').text();
  if (role === 'human') return 'user';
  if (role === 'ai') return 'assistant';
  return role === 'user' || role === 'assistant' || role === 'system' ? role : undefined;
}

/** A cell holds JSON or tool names. */
function toolCallsOf(source: Source): readonly Mapping[] {
  if (source.kind === 'text') {
    const cell = source.text() ?? '';
    const names = listIn(cell)?.map((each) => nameOf(each)) ?? cell.split(/[;|,]/).map((name) => name.trim());
    return names.flatMap((name, index) => (name ? [{ name, args: {}, result: '', error: '', index }] : []));
  }
  return source.items().flatMap((each, index) => {
    const name = each.text() ?? each.at('name').text();
    if (name === undefined) return [];
    const args = ['input_parameters', 'inputParameters', 'args']
      .map((key) => each.at(key).mapping())
      .find((found) => found !== undefined);
    const output = each.at('output').whole();
    const result = output === undefined ? '' : typeof output === 'string' ? output : stringifyJson(output);
    return [{ name, args: args ?? {}, result, error: '', index }];
  });
}

function nameOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const name: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'name') : undefined;
  return typeof name === 'string' ? name : undefined;
}
