import type { Source } from '../../yaml/source.ts';
import { messagesOf, type ReadSample, textsOf } from './sample.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** A sample of Inspect AI’s, `{input, target, choices, id}`; of one in a log also the answer. */
export const readInspectSample: ReadSample = (row) => {
  const messages = messagesOf(row.at('input'));
  if (messages === undefined) {
    row.leave('a sample whose `input` is neither a text nor messages of texts is left out');
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
