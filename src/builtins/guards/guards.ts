export const guards = {
  'signalbox-injection': async () => await import('./injection/guard.ts'),
  'signalbox-links': async () => await import('./links/guard.ts'),
  'signalbox-pii': async () => await import('./pii/guard.ts'),
  'signalbox-prompt': async () => await import('./prompt/guard.ts'),
  'signalbox-secrets': async () => await import('./secrets/guard.ts'),
  'signalbox-topics': async () => await import('./topics/guard.ts'),
} as const;

export type GuardName = keyof typeof guards;
