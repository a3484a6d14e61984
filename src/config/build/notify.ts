import { isLoopbackName } from '../../base/text/loopback-name.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../base/yaml/read.ts';
import type { NotifyConfig } from '../config.ts';
import { readExec } from './exec.ts';
import { whyRefused } from './refused.ts';

/** `spec.notify`; undefined where nobody is told. */
export function readNotify(document: YamlDocument): readonly NotifyConfig[] | undefined {
  const items = itemsAt(document, ['spec', 'notify']);
  if (items.length === 0) return undefined;
  return items.map((path, index): NotifyConfig => {
    const on = itemsAt(document, [...path, 'on']).flatMap((item) => textAt(document, item) ?? []);
    const url = nonEmptyTextAt(document, [...path, 'url']);
    const headers = entriesAt(document, [...path, 'headers']);
    return {
      name: `notify[${index}]`,
      on,
      exec: url === undefined ? readExec(document, path, { refused: whyRefused(document, path) }) : undefined,
      url,
      headers: Object.fromEntries(headers.map((each) => [each.name, textAt(document, each.path) ?? ''])),
      timeoutMs: readExec(document, path, { refused: undefined }).timeoutMs,
    };
  });
}

/** An error for each entry that names nobody, or two, or an address to which nothing may be sent. */
export function checkNotify(document: YamlDocument): Finding[] {
  return itemsAt(document, ['spec', 'notify']).flatMap((path) => {
    const has = (key: string) => valueAt(document, [...path, key]) !== undefined;
    if (has('command') === has('url')) {
      const message = has('url')
        ? '`command` and `url` exclude each other'
        : 'it has neither `command` nor `url`';
      return [error(path, message, 'Name one of them; another entry may have the other.')];
    }
    if (!has('url')) return [];
    const idle = ['args', 'env', 'cwd', 'sandbox', 'limits', 'nice'].find(has);
    if (idle !== undefined)
      return [error([...path, idle], `\`${idle}\` means nothing beside \`url\``, 'Leave it out.')];
    return checkUrl(document, [...path, 'url']);
  });
}

function checkUrl(document: YamlDocument, path: Path): Finding[] {
  const text = nonEmptyTextAt(document, path);
  const url = text === undefined ? null : URL.parse(text);
  if (url === null)
    return text === undefined ? [] : [error(path, 'it is no URL', 'Write it like https://host/path.')];
  if (url.protocol === 'https:' || isLoopbackName(url.hostname)) return [];
  return [
    error(path, 'http is for this machine only', 'Use https: the document tells what people are asked.'),
  ];
}

function error(path: Path, message: string, hint: string): Finding {
  return { severity: 'error', path, message, hint };
}
