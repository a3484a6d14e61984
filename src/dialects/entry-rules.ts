import { longestMs } from '../time/longest-timer.ts';

/** The native keys that have no place where the settings of the dialect say when a hook runs. */
export const withoutNativeKeys = {
  hook: false,
  phases: false,
  mode: false,
  modifies: false,
  runtime: { const: 'exec' },
} as const;

/** Where a hook of another system is declared `modifies`. */
export const modifiesHint = 'The rules of its system say which of its hooks are asked together.';

/** A number of milliseconds that a timer can wait, as JSON Schema. */
export const milliseconds = { type: 'integer', minimum: 1, maximum: longestMs } as const;
