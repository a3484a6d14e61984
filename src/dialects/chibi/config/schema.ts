import type { EntryRules } from '../../dialect-config.ts';
import { milliseconds, modifiesHint, withoutNativeKeys } from '../../entry-rules.ts';

const schemaHint = 'The plugin’s own --schema says at which points it runs.';

/** The keys of a `dialect: chibi` hook, and of an import of plugins. */
export const chibiEntry: EntryRules = {
  required: ['command'],
  properties: withoutNativeKeys,
  toolRemarks: {
    category: 'Chibi’s permission points fire for fs_read, fs_write, shell and network.',
  },
  misplacedHints: { hook: schemaHint, phases: schemaHint, mode: schemaHint, modifies: modifiesHint },
  runtimeHint: 'A chibi plugin is started anew for each call; leave `runtime` out.',
  importProperties: {
    plugins_dir: {
      type: 'string',
      minLength: 1,
      description: 'A folder of chibi plugins, relative to this file’s: all their tools and hooks.',
    },
    timeout_ms: { ...milliseconds, description: 'The `timeout_ms` of every chibi plugin. Default: 30000.' },
  },
};
