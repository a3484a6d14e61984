import { isObject, stringifyJson } from '../../../json/json.ts';
import { tryParse } from '../../../json/try-parse.ts';
import { parseDocument } from '../../../yaml/document.ts';
import type { Filled, Templates } from '../nunjucks/templates.ts';
import { toExpressionText, variablesOf } from '../template.ts';
import { type ImportedPrompt, promptName, type TemplateMessage } from './prompt-model.ts';
import { knownRoles } from './prompt-text.ts';

/** Whether a case has to hold what the prompt makes of its variables, as `case.prompts["prompt-1"]`. */
export function isInRows({ body }: Pick<ImportedPrompt, 'body'>): boolean {
  if (body.kind === 'whole') return true;
  return body.kind === 'messages' && body.messages.some(({ content }) => variablesOf(content) === undefined);
}

/** What a row holds of a prompt: the texts of its messages, or the text and the messages that it stands for. */
export function promptInRow(
  { body }: ImportedPrompt,
  vars: Readonly<Record<string, unknown>>,
  templates: Templates,
): Filled {
  if (body.kind === 'messages') return templates.fill(textsInRow(body.messages), vars);
  if (body.kind !== 'whole') return { value: undefined };
  const filled = templates.fill(body.isJson ? tryParse(body.template) : body.template, vars);
  if ('fault' in filled) return filled;
  const text = body.isJson ? JSON.stringify(filled.value, null, 2) : String(filled.value);
  return conversationOf(text);
}

/** Those that no expression says; an empty text in the place of the others. */
function textsInRow(messages: readonly TemplateMessage[]): readonly string[] {
  return messages.map(({ content }) => (variablesOf(content) === undefined ? content : ''));
}

/** As promptfoo’s providers read it: JSON, or YAML that begins with a role, is a conversation. */
function conversationOf(text: string): Filled {
  const start = text.trim();
  const value = start.startsWith('- role:') ? parseDocument('prompt', text).value : tryParse(start);
  if (!Array.isArray(value) || !value.some((each) => isObject(each) && 'role' in each))
    return { value: { text, messages: text } };
  const messages = value.flatMap((each: unknown) => {
    if (!isObject(each)) return [];
    const { role, content, ...more } = each;
    const isKnown = typeof role === 'string' && knownRoles.includes(role) && Object.keys(more).length === 0;
    return isKnown && typeof content === 'string' ? [{ role, content }] : [];
  });
  if (messages.length < value.length) return { fault: 'makes messages that hold more than texts' };
  return { value: { text, messages } };
}

/** The messages of a prompt in the words of a suite: their texts may hold `${…}`; or one `${…}` that gives them. */
export function messagesInSuite(prompt: ImportedPrompt): readonly TemplateMessage[] | string {
  const { body } = prompt;
  const row = `case.prompts[${stringifyJson(promptName(prompt))}]`;
  if (body.kind === 'whole') return `\${${row}.messages}`;
  if (body.kind === 'program') return '${steps.prompt.result.messages}';
  return body.messages.map(({ role, content }, index) => ({
    role,
    content: toExpressionText(content) ?? `\${${row}[${index}]}`,
  }));
}

/** The same as one text, for those who know no messages. */
export function textInSuite(prompt: ImportedPrompt): string {
  const messages = messagesInSuite(prompt);
  if (typeof messages === 'string') return messages.replace(/messages\}$/, 'text}');
  return messages.map(({ content }) => content).join('\n');
}

/** The variables that expressions of a prompt read. */
export function variablesInSuite({ body }: ImportedPrompt): readonly string[] {
  return body.kind === 'messages' ? body.messages.flatMap(({ content }) => variablesOf(content) ?? []) : [];
}
