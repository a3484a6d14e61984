import { dirname, resolve } from 'node:path';
import type { YamlDocument } from '../base/yaml/document.ts';
import { readFields, usual, usually } from '../base/yaml/fields.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { nonEmptyTextAt, valueAt } from '../base/yaml/read.ts';

export const stateStoreSchema = {
  type: ['object', 'null'],
  description:
    'Where approvals and runs are kept. Default: the SQLite file .signalbox/state.db beside this file.',
  additionalProperties: false,
  properties: {
    type: {
      type: 'string',
      enum: ['sqlite', 'postgres', 'memory', 'file'],
      description:
        // `file` is PromptKit's name for a folder.
        'sqlite (default): a file that outlives the process. postgres: a database that many machines may share. memory: lost when the process ends. file: PromptKit’s type, a SQLite file in the folder file.root.',
    },
    path: usually('.signalbox/state.db', {
      type: 'string',
      minLength: 1,
      description: 'The SQLite file of type sqlite, relative to this file’s folder.',
    }),
    url_env: {
      type: 'string',
      minLength: 1,
      [usual]: '',
      description:
        'For type postgres: the environment variable that holds the address, such as postgres://user:password@host:5432/database.',
    },
    file: {
      type: ['object', 'null'],
      description: 'PromptKit’s settings of type file.',
      additionalProperties: false,
      [usual]: {},
      properties: {
        root: {
          type: 'string',
          [usual]: '.signalbox',
          description: 'The folder, relative to this file’s folder; the store is state.db in it.',
        },
        fsync: { description: 'PromptKit’s fsync. Not used: every write is durable.' },
        ttl_days: { description: 'PromptKit’s ttl_days. Not used.' },
      },
    },
    redis: { description: 'PromptKit’s settings of type redis. Not used, contents not checked.' },
  },
} as const;

export type StateStoreConfig =
  | { readonly type: 'memory' }
  /** The absolute path of the database. */
  | { readonly type: 'sqlite'; readonly file: string }
  /** An environment variable contains the address; `folder` stores this machine's own data. */
  | {
      readonly type: 'postgres';
      readonly urlEnv: string;
      readonly folder: string;
    }
  /** An unsupported store: everything that needs it fails with this reason. */
  | { readonly type: 'refused'; readonly reason: string };

const section = ['spec', 'state_store'] as const;

export function readStateStore(document: YamlDocument, folder: string): StateStoreConfig {
  const { type = 'sqlite', path, urlEnv, file } = readFields(document, section, stateStoreSchema.properties);
  const asked = nonEmptyTextAt(document, [...section, 'type']) ?? type;
  if (asked !== type)
    return { type: 'refused', reason: `state_store.type is ${asked}, which is not supported` };
  if (type === 'memory') return { type };
  if (type === 'postgres') return { type, urlEnv, folder: resolve(folder, '.signalbox') };
  return {
    type: 'sqlite',
    file: type === 'sqlite' ? resolve(folder, path) : resolve(folder, file.root, 'state.db'),
  };
}

/** The folder of a store's local data; undefined without any. */
export function stateFolderOf(store: StateStoreConfig): string | undefined {
  if (store.type === 'postgres') return store.folder;
  return store.type === 'sqlite' ? dirname(store.file) : undefined;
}

const rootPath = [...section, 'file', 'root'];
const urlPath = [...section, 'url_env'];

/** Reports missing settings of the store's type, and settings that it ignores. */
export function checkStateStore(document: YamlDocument): Finding[] {
  const type = nonEmptyTextAt(document, [...section, 'type']) ?? 'sqlite';
  const idle = keysOfType
    .filter(([key, owner]) => owner !== type && valueAt(document, [...section, key]) != null)
    .map(([key, owner]): Finding => {
      const message = `is not used: it belongs to type ${owner}, and the type is ${type}`;
      return { severity: 'warning', path: [...section, key], message, atKey: true };
    });
  const unused = ['fsync', 'ttl_days']
    .filter((key) => type === 'file' && valueAt(document, [...section, 'file', key]) != null)
    .map((key): Finding => {
      return { severity: 'warning', path: [...section, 'file', key], message: unusedWords, atKey: true };
    });
  return [...needsRoot(document, type), ...needsUrl(document, type), ...idle, ...unused];
}

const keysOfType = [
  ['path', 'sqlite'],
  ['url_env', 'postgres'],
  ['file', 'file'],
  ['redis', 'redis'],
] as const;

const unusedWords = 'is accepted and not used';

function needsRoot(document: YamlDocument, type: string): Finding[] {
  if (type !== 'file' || nonEmptyTextAt(document, rootPath) !== undefined) return [];
  const hint = 'Name the folder, or use `type: sqlite`.';
  return [{ severity: 'error', path: rootPath, message: 'is required if type is file', hint, atKey: true }];
}

function needsUrl(document: YamlDocument, type: string): Finding[] {
  if (type !== 'postgres' || nonEmptyTextAt(document, urlPath) !== undefined) return [];
  const hint = 'Name the environment variable that holds the address, as in `url_env: DATABASE_URL`.';
  return [
    { severity: 'error', path: urlPath, message: 'is required if type is postgres', hint, atKey: true },
  ];
}
