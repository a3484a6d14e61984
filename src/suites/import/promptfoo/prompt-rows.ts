import { join } from 'node:path';
import { isObject, stringifyJson } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/parse.ts';
import { parseDocument } from '../../../base/yaml/document.ts';
import { envNamesOfFile, programOf } from '../suite/programs.ts';
import type { SourceFiles } from '../suite/source-files.ts';
import { toExpressionText, variablesOf } from '../suite/template.ts';
import type { ImportedCase } from './cases.ts';
import {
  type ImportedPrompt,
  knownRoles,
  type PromptBody,
  promptName,
  type TemplateMessage,
} from './prompts.ts';
import type { Filled, Templates } from './templates.ts';

interface MadePrompts {
  readonly prompts: readonly ImportedPrompt[];
  readonly made: readonly Readonly<Record<string, unknown>>[];
}

export function makePrompts(
  prompts: readonly ImportedPrompt[],
  cases: readonly ImportedCase[],
  nunjucks: Templates,
): MadePrompts {
  const made: Record<string, unknown>[] = cases.map(() => ({}));
  const kept = prompts.filter((prompt) => {
    if (!isInRows(prompt)) return true;
    const faults = new Set<string>();
    let count = 0;
    for (const [index, { vars }] of cases.entries()) {
      const filled = promptInRow(prompt, vars, nunjucks);
      const row = made[index];
      if ('fault' in filled) faults.add(filled.fault);
      else if (row !== undefined) row[promptName(prompt)] = filled.value;
      count += 'fault' in filled ? 0 : 1;
    }
    const [fault] = faults;
    if (count > 0 && fault !== undefined)
      prompt.at.note('warning', `the template of a prompt ${fault}: such cases have no answer`);
    else if (fault !== undefined)
      prompt.at.leave(`a prompt whose template ${fault} is left out`, 'Write it as a pipeline.');
    return count > 0 || cases.length === 0;
  });
  return { prompts: kept, made };
}

/** Whether rows contain the rendered prompt, as `case.prompts["prompt-1"]`. */
function isInRows({ body }: Pick<ImportedPrompt, 'body'>): boolean {
  if (body.kind === 'whole') return true;
  return body.kind === 'messages' && body.messages.some(({ content }) => variablesOf(content) === undefined);
}

function promptInRow(
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

function textsInRow(messages: readonly TemplateMessage[]): readonly string[] {
  return messages.map(({ content }) => (variablesOf(content) === undefined ? content : ''));
}

/** As in promptfoo’s providers, JSON or YAML that begins with a role is a conversation. */
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
  if (messages.length < value.length) return { fault: 'makes messages with content other than text' };
  return { value: { text, messages } };
}

/** The messages in suite syntax: texts with `${…}`, or one `${…}` that yields the messages. */
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

export function textInSuite(prompt: ImportedPrompt): string {
  const messages = messagesInSuite(prompt);
  if (typeof messages === 'string') return messages.replace(/messages\}$/, 'text}');
  return messages.map(({ content }) => content).join('\n');
}

export function variablesInSuite({ body }: ImportedPrompt): readonly string[] {
  return body.kind === 'messages' ? body.messages.flatMap(({ content }) => variablesOf(content) ?? []) : [];
}

export function promptProgramOf(
  { language, code }: Extract<PromptBody, { readonly kind: 'program' }>,
  files: SourceFiles,
): Readonly<Record<string, unknown>> {
  const file = 'file' in code ? code.file : '';
  const member = 'file' in code ? code.member : '';
  const found = files.find(file);
  const env = 'fault' in found ? [] : envNamesOfFile(found.file);
  return {
    description: `Makes the prompt of ${join(file)}.`,
    input_schema: {
      type: 'object',
      required: ['vars'],
      properties: { vars: { type: 'object' }, provider: { type: 'string' } },
    },
    exec: { ...programOf(language, ['prompt', file, member], files), ...(env.length > 0 && { env }) },
  };
}
