import type { DefaultsConfig, ExecConfig, StateStoreConfig } from '../config.ts';

/** What the reader of one dialect is given beside the entry. */
export interface EntryContext {
  readonly exec: ExecConfig;
  readonly folder: string;
  readonly store: StateStoreConfig;
  readonly defaults: DefaultsConfig;
}
