import { tryParse } from '../../../json/try-parse.ts';
import type { Source } from '../../../yaml/source.ts';
import type { AssertionContext } from './assertion-model.ts';

type Read = { readonly text: string } | { readonly fault: string };

/** What llm_judge knows too, and fills in itself. */
const places = { output: '{{output}}', rubric: '{{rubric}}' };

/** A text, messages, or a file of either, as the task of a judge: the variables of the test are filled in, the answer is not. */
export function readRubricPrompt(given: Source, { files, notes, nunjucks, vars }: AssertionContext): Read {
  const own = given.text();
  const isFile = own?.startsWith('file://') === true;
  if (isFile && /\.(?:py|[cm]?[jt]s|rb)(?::\w+)?$/.test(own))
    return { fault: 'an assertion whose `rubricPrompt` a program makes is left out' };
  const found = isFile ? files.open(own) : given;
  if ('fault' in found) return found;
  const written = found.text();
  const messages = written === undefined ? found : messagesIn(written, found, notes);
  const text = messages === undefined ? written : textOf(messages);
  if (text === undefined || text.trim() === '')
    return { fault: 'an assertion whose `rubricPrompt` is no text and no list of messages is left out' };
  const filled = nunjucks.fill(text, { ...vars, ...places });
  if ('fault' in filled) return { fault: `an assertion whose \`rubricPrompt\` ${filled.fault} is left out` };
  return { text: String(filled.value) };
}

/** Messages that are written as JSON. */
function messagesIn(text: string, at: Source, notes: AssertionContext['notes']): Source | undefined {
  const value = /^\s*\[/.test(text) ? tryParse(text) : undefined;
  return Array.isArray(value) ? notes.open(value, () => at.location) : undefined;
}

function textOf(messages: Source): string | undefined {
  const items = messages.items();
  const texts = items.flatMap((message) => {
    // One judge reads the messages of every role.
    message.at('role').word('system', 'user');
    return message.at('content').text() ?? [];
  });
  return texts.length === items.length ? texts.join('\n\n') : undefined;
}
