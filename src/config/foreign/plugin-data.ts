import { basename, dirname, join, relative } from 'node:path';
import { toFileName } from '../../file-name.ts';
import type { StateStoreConfig } from '../config.ts';

/** The folder beside the store in which a Claude Code plugin may keep what is its own. */
export function pluginDataOf(store: StateStoreConfig, folder: string, pluginRoot: string): string {
  const home = store.type === 'sqlite' ? dirname(store.file) : join(folder, '.signalbox');
  const place = relative(folder, pluginRoot);
  // Plugins of one name in two folders are two.
  const name = place !== '' && place === basename(pluginRoot) && place !== '..' ? place : toFileName(place);
  return join(home, 'plugins', name);
}
