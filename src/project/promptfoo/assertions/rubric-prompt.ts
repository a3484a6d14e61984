import { isObject } from '../../../json/json.ts';
import { tryParse } from '../../../json/try-parse.ts';
import { valueOfFile } from '../../suite-import/source-files.ts';
import type { AssertionContext } from './assertion-model.ts';

type Read = { readonly text: string } | { readonly fault: string };

/** What llm_judge knows too, and fills in itself. */
const places = { output: '{{output}}', rubric: '{{rubric}}' };

/** A text, messages, or a file of either, as the task of a judge: the variables of the test are filled in, the answer is not. */
export function readRubricPrompt(given: unknown, { files, nunjucks, vars }: AssertionContext): Read {
  const isFile = typeof given === 'string' && given.startsWith('file://');
  const found = isFile ? files.find(given) : undefined;
  if (found !== undefined && 'fault' in found) return found;
  if (isFile && /\.(?:py|[cm]?[jt]s|rb)(?::\w+)?$/.test(given))
    return { fault: 'an assertion whose `rubricPrompt` a program makes is left out' };
  const loaded = found === undefined ? { value: given } : valueOfFile(found.file);
  if ('fault' in loaded) return loaded;
  const text = textOf(
    typeof loaded.value === 'string' ? (messagesIn(loaded.value) ?? loaded.value) : loaded.value,
  );
  if (text === undefined || text.trim() === '')
    return { fault: 'an assertion whose `rubricPrompt` is no text and no list of messages is left out' };
  const filled = nunjucks.fill(text, { ...vars, ...places });
  if ('fault' in filled) return { fault: `an assertion whose \`rubricPrompt\` ${filled.fault} is left out` };
  return { text: String(filled.value) };
}

/** Messages that are written as JSON. */
function messagesIn(text: string): unknown {
  const value = /^\s*\[/.test(text) ? tryParse(text) : undefined;
  return Array.isArray(value) ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const texts = value.flatMap((message: unknown) =>
    isObject(message) && typeof message['content'] === 'string' ? [message['content']] : [],
  );
  return texts.length === value.length ? texts.join('\n\n') : undefined;
}
