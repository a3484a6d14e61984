import { stringifyJson } from '../../../json/json.ts';
import { tryParse } from '../../../json/try-parse.ts';
import type { Source } from '../../../yaml/source.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** A sample of Inspect AI’s, `{input, target, choices, id}`; of one in a log also the answer. */
export const readInspectSample: ReadSample = (row) => {
  const messages = messagesOf(row.at('input'));
  if (messages === undefined) {
    leaveSample(row, 'input', 'a sample whose `input` is neither a text nor messages of texts is left out');
    return undefined;
  }
  const choices = textsOf(row.at('choices'));
  const id = row.at('id').scalar();
  const epoch = row.at('epoch').number() ?? 1;
  return {
    id: epoch > 1 && id !== undefined ? `${id}-${epoch}` : id,
    messages: choices.length === 0 ? messages : withChoices(messages, choices),
    answer: answerOf(row.at('output')),
    expected: textsOf(row.at('target')),
    choices: choices.map((_, index) => letters[index] ?? String(index + 1)),
    contexts: [],
    toolCalls: [],
    expectedTools: [],
    tags: [],
  };
};

/** The text of the first choice of a `ModelOutput`; only logs have one. */
function answerOf(output: Source): string | undefined {
  const [first] = output.at('choices').items();
  const message = first?.at('message');
  message?.at('role').word('assistant');
  const parts = message?.at('content').items() ?? [];
  const texts = parts.flatMap((part) => (part.at('type').word('text') ? (part.at('text').text() ?? []) : []));
  const isWhole = parts.length > 0 && texts.length === parts.length;
  // What the message holds, as one text.
  const completion = output.at('completion').text();
  return message?.at('content').text() ?? (isWhole ? texts.join('\n') : completion);
}

/** The question with its choices below. */
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

/** Reports a row without a question: the key is missing, or what it has is nothing to ask. */
function leaveSample(row: Source, key: string, otherwise: string): void {
  if (row.at(key).isGiven) row.leave(otherwise);
  else
    row.leave(
      `the row has no \`${key}\`, which every sample needs (it has: ${row.keys().join(', ')})`,
      `Rename the key that holds the question to \`${key}\`, or name the system that the file comes from with --from.`,
    );
}

/** A test case or golden of DeepEval’s, in the spelling of Python or of JSON, or a row of a table that `save_as` wrote. */
export const readDeepEvalSample: ReadSample = (row) => {
  const either = (snake: string, camel: string) => (row.at(snake).isGiven ? row.at(snake) : row.at(camel));
  const messages = messagesOf(row.at('input'));
  if (messages === undefined) {
    leaveSample(row, 'input', 'a test case whose `input` is no text is left out');
    return undefined;
  }
  const contexts = textsOfCell(either('retrieval_context', 'retrievalContext'));
  const [answer] = textsOf(either('actual_output', 'actualOutput'));
  return {
    id: row.at('name').text() || undefined,
    messages,
    answer: answer === '' ? undefined : answer,
    expected: textsOf(either('expected_output', 'expectedOutput')).filter((each) => each !== ''),
    choices: [],
    // `context` is what an answer should go by: it stands in for what was found only where nothing was.
    contexts: contexts.length > 0 ? contexts : textsOfCell(row.at('context')),
    toolCalls: toolCallsOf(either('tools_called', 'toolsCalled')),
    expectedTools: toolCallsOf(either('expected_tools', 'expectedTools')).map(({ name }) => String(name)),
    tags: textsOfCell(row.at('tags')),
  };
};

/** A sample of Ragas’, of one turn or several, in its names of today and of before. */
export const readRagasSample: ReadSample = (row) => {
  const first = (...keys: readonly string[]) =>
    row.at(keys.find((key) => row.at(key).isGiven) ?? keys[0] ?? '');
  const messages = messagesOf(first('user_input', 'question'));
  if (messages === undefined) {
    leaveSample(
      row,
      'user_input',
      'a sample whose `user_input` is neither a text nor messages of texts is left out',
    );
    return undefined;
  }
  const last = messages.at(-1);
  const isTalk = last?.role === 'assistant' && messages.length > 1;
  const answer = first('response', 'answer').text() || undefined;
  return {
    id: undefined,
    messages: isTalk ? messages.slice(0, -1) : messages,
    answer: answer ?? (isTalk ? last.content : undefined),
    expected: textsOf(first('reference', 'ground_truth', 'ground_truths')).filter((each) => each !== ''),
    choices: [],
    contexts: textsOfCell(first('retrieved_contexts', 'contexts')),
    toolCalls: [],
    expectedTools: toolCallsOf(row.at('reference_tool_calls')).map(({ name }) => String(name)),
    tags: [],
  };
};

type Mapping = Readonly<Record<string, unknown>>;

interface SampleMessage {
  readonly role: string;
  readonly content: string;
}

/** A question, and what is known of its answers, as the data sets of other systems have them. */
export interface Sample {
  readonly id: string | undefined;
  readonly messages: readonly SampleMessage[];
  /** The answer to judge; undefined where it is to be made. */
  readonly answer: string | undefined;
  /** Right answers, of which one is enough; of a choice its letter. */
  readonly expected: readonly string[];
  readonly choices: readonly string[];
  /** What was found to answer with. */
  readonly contexts: readonly string[];
  readonly toolCalls: readonly Mapping[];
  readonly expectedTools: readonly string[];
  readonly tags: readonly string[];
}

/** Reads a row; undefined, with a note, where it is no sample. What it does not take is reported. */
export type ReadSample = (row: Source) => Sample | undefined;

/** A text or texts; empty, and nothing taken, where there is none. */
function textsOf(source: Source): readonly string[] {
  const only = source.scalar();
  if (only !== undefined) return [only];
  return source.items().flatMap((each) => each.scalar() ?? []);
}

/** The same of a cell, in which a bar or a JSON list stands between texts. */
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

/** The messages of a text, or of a list with roles; undefined, and nothing taken, where it is neither. */
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

/** The calls of tools that a test case lists, as evals see them; in a cell as JSON, or as names. */
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
