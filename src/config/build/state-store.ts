import { dirname, resolve } from 'node:path';
import type { YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { choiceAt, nonEmptyTextAt, valueAt } from '../../base/yaml/read.ts';
import type { StateStoreConfig } from '../config.ts';
import { storeTypes } from '../schema/store.ts';

const section = ['spec', 'state_store'] as const;

/** The store that a checked document declares; `folder` is absolute. */
export function readStateStore(document: YamlDocument, folder: string): StateStoreConfig {
  const type = nonEmptyTextAt(document, [...section, 'type']);
  const known = type === undefined ? 'sqlite' : choiceAt(document, [...section, 'type'], storeTypes);
  if (known === undefined)
    return { type: 'refused', reason: `state_store.type is ${type}, which is not supported` };
  if (known === 'memory') return { type: 'memory' };
  if (known === 'postgres') {
    const urlEnv = nonEmptyTextAt(document, urlPath) ?? '';
    return { type: 'postgres', urlEnv, folder: resolve(folder, '.signalbox') };
  }
  if (known === 'sqlite') {
    const path = nonEmptyTextAt(document, [...section, 'path']) ?? '.signalbox/state.db';
    return { type: 'sqlite', file: resolve(folder, path) };
  }
  const root = nonEmptyTextAt(document, rootPath) ?? '.signalbox';
  return { type: 'sqlite', file: resolve(folder, root, 'state.db') };
}

/** The folder of what a store keeps on this machine; undefined where it keeps nothing. */
export function stateFolderOf(store: StateStoreConfig): string | undefined {
  if (store.type === 'postgres') return store.folder;
  return store.type === 'sqlite' ? dirname(store.file) : undefined;
}

const rootPath = [...section, 'file', 'root'];
const urlPath = [...section, 'url_env'];

/** What no schema can see about the store: settings that its type needs, and those that it passes over. */
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
  return [
    { severity: 'error', path: rootPath, message: 'is required where type is file', hint, atKey: true },
  ];
}

function needsUrl(document: YamlDocument, type: string): Finding[] {
  if (type !== 'postgres' || nonEmptyTextAt(document, urlPath) !== undefined) return [];
  const hint = 'Name the environment variable that holds the address, as in `url_env: DATABASE_URL`.';
  return [
    { severity: 'error', path: urlPath, message: 'is required where type is postgres', hint, atKey: true },
  ];
}
