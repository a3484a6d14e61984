import type { Path } from '../../../yaml/document.ts';
import { itemsAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { ImportContext } from '../../import-context.ts';

const strings = { type: 'array', items: { type: 'string' } } as const;

/** A handler of Claude Code’s that can run here. Keys that are not listed have no effect. */
export const claudeHandlerSchema = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['command', 'http', 'prompt'] },
    if: { type: ['string', 'null'] },
    onFailure: { type: 'string', enum: ['block', 'continue'] },
    prompt: { type: 'string', minLength: 1, pattern: '^[^\\u0000]*$' },
    command: { type: 'string', minLength: 1, pattern: '^[^\\u0000]*$' },
    args: { type: ['array', 'null'], items: { type: 'string', pattern: '^[^\\u0000]*$' } },
    async: { type: 'boolean' },
    asyncRewake: { type: 'boolean' },
    shell: { type: 'string', enum: ['bash', 'powershell'] },
    url: { type: 'string', pattern: '^https?://' },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    allowedEnvVars: strings,
  },
  allOf: [needs('command', 'command'), needs('http', 'url'), needs('prompt', 'prompt')],
} as const;

function needs(type: string, key: string): object {
  const isOf = { properties: { type: { const: type } }, required: ['type'] };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: isOf, then: { required: [key] } };
}

/** Why a handler of that type cannot run here; undefined for command and http, and for prompt where a provider judges. */
export function describeRefusedType(type: string, judge?: ImportContext['judge']): string | undefined {
  if (type === 'command' || type === 'http') return undefined;
  if (type === 'prompt' && judge !== undefined) return undefined;
  if (type === 'prompt' || type === 'agent' || type === 'mcp_tool') {
    return `hook type '${type}' asks a model to judge, which Signalbox does not do; use a command or http handler`;
  }
  return `hook type '${type}' is not known; use a command or http handler`;
}

/** Whether the `allowedHttpHookUrls` of the file allow the URL; reports an error where they do not. */
export function checkPost({ document, addFinding }: ImportContext, url: string, path: Path): boolean {
  const key = ['allowedHttpHookUrls'];
  if (!Array.isArray(valueAt(document, key))) return true;
  const allowed = itemsAt(document, key).map((item) => textAt(document, item) ?? '');
  if (allowed.some((pattern) => fitsPattern(url, pattern))) return true;
  addFinding({
    severity: 'error',
    path: [...path, 'url'],
    message: 'is not among allowedHttpHookUrls of this file',
  });
  return false;
}

/**
 * Those of the names that `httpHookAllowedEnvVars` of the file allows; all where the file has no such key.
 */
export function allowedVariables({ document }: ImportContext, names: readonly string[]): string[] {
  const key = ['httpHookAllowedEnvVars'];
  if (!Array.isArray(valueAt(document, key))) return [...names];
  const allowed = itemsAt(document, key).map((item) => textAt(document, item));
  return names.filter((name) => allowed.includes(name));
}

/** `*` stands for any text. Each part is looked for behind the last one, which takes no longer for many stars. */
function fitsPattern(url: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return url === pattern;
  if (!url.startsWith(first) || !url.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = url.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at + last.length <= url.length;
}
