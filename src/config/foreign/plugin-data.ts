import { basename, dirname, join } from 'node:path';
import type { StateStoreConfig } from '../config.ts';

/** The folder beside the store in which a Claude Code plugin may keep what is its own. */
export function pluginDataOf(store: StateStoreConfig, folder: string, pluginRoot: string): string {
  const home = store.type === 'sqlite' ? dirname(store.file) : join(folder, '.signalbox');
  return join(home, 'plugins', basename(pluginRoot));
}
