import { messagesOf, noteMembers, type ReadSample, textsOf } from './sample.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** A sample of Inspect AI’s: `{input, target, choices, id, metadata}`. */
export const readInspectSample: ReadSample = (row) => {
  const { value, at, notes } = row;
  const messages = messagesOf(value['input']);
  if (messages === undefined) {
    notes.add('error', at, 'a sample whose `input` is neither a text nor messages of texts is left out');
    return undefined;
  }
  noteMembers(row, ['files', 'setup', 'sandbox']);
  const choices = textsOf(value['choices']);
  const { id } = value;
  return {
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
    messages: choices.length === 0 ? messages : withChoices(messages, choices),
    answer: undefined,
    expected: textsOf(value['target']),
    choices: choices.map((_, index) => letters[index] ?? String(index + 1)),
    contexts: [],
    toolCalls: [],
    expectedTools: [],
    tags: [],
  };
};

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
