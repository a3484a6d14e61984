import { isLoopbackName } from '../base/text/url.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { type Fields, read, readFields, usual } from '../base/yaml/fields.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { itemsAt, nonEmptyTextAt, textsByNameAt, valueAt } from '../base/yaml/read.ts';
import { whyRefused } from './build/refused.ts';
import { type ExecConfig, execProperties, readExec } from './exec.ts';

const {
  runtime: _runtime,
  instances: _instances,
  warm: _warm,
  dialect: _dialect,
  ...oneShot
} = execProperties;

const ownKeys = {
  timeout_ms: {
    ...execProperties.timeout_ms,
    description: 'Milliseconds until an attempt times out. Default: 10000.',
  },
  url: {
    type: 'string',
    pattern: '^https?://',
    description:
      'URL to which the document is posted; any status from 200 to 299 means that it was received. https, or http to this machine; redirects are not followed.',
  },
  headers: {
    type: 'object',
    additionalProperties: { type: 'string' },
    [read]: textsByNameAt,
    [usual]: {},
    description: 'Headers of the request to `url`, such as Authorization: Bearer ${env:TOKEN}.',
  },
  on: {
    type: 'array',
    minItems: 1,
    [usual]: [],
    uniqueItems: true,
    items: { type: 'string', enum: ['pending', 'decided', 'suspended', 'failed', 'completed'] },
    description:
      'pending: a call waits for a person. decided: it was decided, has expired or was cancelled. suspended: a run stopped because of a fault that may be temporary. completed: a run succeeded. failed: it failed, was denied or was cancelled.',
  },
} as const;

export const notifySchema = {
  type: ['array', 'null'],
  description:
    'Programs and URLs that receive a document when a call waits or is decided, or when a run ends, after that is stored; docs/guides/notify-people.md describes the document.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['on'],
    properties: {
      ...oneShot,
      command: {
        ...execProperties.command,
        description: `${execProperties.command.description} The document is on its stdin; exit code 0 means that it was received.`,
      },
      ...ownKeys,
    },
  },
} as const;

/** A program or `url` that is notified of events of runs. */
export interface NotifyConfig extends Fields<typeof ownKeys> {
  readonly name: string;
  readonly exec?: ExecConfig;
}

export function readNotify(document: YamlDocument): readonly NotifyConfig[] | undefined {
  const items = itemsAt(document, ['spec', 'notify']);
  if (items.length === 0) return undefined;
  return items.map((path, index) => {
    const own = readFields(document, path, ownKeys);
    const exec = own.url === undefined && readExec(document, path, { refused: whyRefused(document, path) });
    return { name: `notify[${index}]`, ...own, ...(exec && { exec }) };
  });
}

export function checkNotify(document: YamlDocument): Finding[] {
  return itemsAt(document, ['spec', 'notify']).flatMap((path) => {
    const has = (key: string) => valueAt(document, [...path, key]) !== undefined;
    if (has('command') === has('url')) {
      const message = has('url')
        ? '`command` and `url` cannot be combined'
        : 'it has neither `command` nor `url`';
      return [error(path, message, 'Name one of them; another entry may have the other.')];
    }
    if (!has('url')) return [];
    const idle = ['args', 'env', 'cwd', 'sandbox', 'limits', 'nice'].find(has);
    if (idle !== undefined)
      return [error([...path, idle], `\`${idle}\` cannot be combined with \`url\``, 'Remove it.')];
    return checkUrl(document, [...path, 'url']);
  });
}

function checkUrl(document: YamlDocument, path: Path): Finding[] {
  const text = nonEmptyTextAt(document, path);
  const url = text === undefined ? null : URL.parse(text);
  if (url === null)
    return text === undefined ? [] : [error(path, 'it is not a URL', 'Write it like https://host/path.')];
  if (url.protocol === 'https:' || isLoopbackName(url.hostname)) return [];
  return [
    error(
      path,
      'http is allowed to this machine only',
      'Use https: the document contains what people are asked to decide.',
    ),
  ];
}

function error(path: Path, message: string, hint: string): Finding {
  return { severity: 'error', path, message, hint };
}
