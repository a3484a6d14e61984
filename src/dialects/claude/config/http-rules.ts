import type { Path } from '../../../yaml/document.ts';
import { itemsAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { ImportContext } from '../../import-context.ts';

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

/** `*` stands for any text. */
function fitsPattern(url: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(url);
}
