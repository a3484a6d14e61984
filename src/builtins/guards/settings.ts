import type { GuardHost } from './program/options.ts';

/** Reads the settings of each guard of this package, by the name of its program. They throw USAGE. */
export const settingsReaders: Readonly<
  Record<string, () => Promise<{ readSettings(argv: readonly string[], host: GuardHost): unknown }>>
> = {
  'signalbox-injection': async () => await import('./injection/settings.ts'),
  'signalbox-links': async () => await import('./links/settings.ts'),
  'signalbox-pii': async () => await import('./pii/settings.ts'),
  'signalbox-prompt': async () => await import('./prompt/settings.ts'),
  'signalbox-secrets': async () => await import('./secrets/settings.ts'),
  'signalbox-topics': async () => await import('./topics/settings.ts'),
};
