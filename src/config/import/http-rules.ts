import type { Path } from '../../yaml/document.ts';
import { itemsAt, textAt, valueAt } from '../../yaml/read.ts';
import type { ClaudePost } from './draft.ts';
import type { Reading } from './reading.ts';

/** Whether the file’s own `allowedHttpHookUrls` lets the handler post; says so where it does not. */
export function checkPost({ document, say }: Reading, { url }: ClaudePost, path: Path): boolean {
  const key = ['allowedHttpHookUrls'];
  if (!Array.isArray(valueAt(document, key))) return true;
  const allowed = itemsAt(document, key).map((item) => textAt(document, item) ?? '');
  if (allowed.some((pattern) => fitsPattern(url, pattern))) return true;
  say({
    severity: 'error',
    path: [...path, 'url'],
    message: 'is not among allowedHttpHookUrls of this file',
  });
  return false;
}

/** The names that `httpHookAllowedEnvVars` of the file leaves of a handler’s own. */
export function allowedVariables({ document }: Reading, names: readonly string[]): string[] {
  const key = ['httpHookAllowedEnvVars'];
  if (!Array.isArray(valueAt(document, key))) return [...names];
  const allowed = itemsAt(document, key).map((item) => textAt(document, item));
  return names.filter((name) => allowed.includes(name));
}

/** `*` stands for any text. */
function fitsPattern(url: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(url);
}
