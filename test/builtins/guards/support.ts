import { answer, type Reply } from '../../../src/builtins/guards/answer.ts';
import type { GuardRules } from '../../../src/builtins/guards/guard.ts';
import { createInjectionRules, defaultThresholds } from '../../../src/builtins/guards/injection/rules.ts';
import {
  createLinkRules,
  type LinkSettings,
  linkKindNames,
} from '../../../src/builtins/guards/links/rules.ts';
import {
  createSecretRules,
  type SecretSettings,
  secretKindNames,
} from '../../../src/builtins/guards/secrets/rules.ts';

/** Rules of signalbox-secrets that redact, with a fixed key for the hashes. */
export function secretRules(overrides: Partial<SecretSettings> = {}): GuardRules {
  const rows = secretKindNames.map((kind) => [kind, 'redact']);
  return createSecretRules({
    kinds: new Set(secretKindNames),
    actions: Object.fromEntries(rows),
    scans: () => true,
    isAllowed: () => false,
    key: Buffer.alloc(32, 7),
    ...overrides,
  });
}

export function linkRules(overrides: Partial<LinkSettings> = {}): GuardRules {
  return createLinkRules({
    kinds: new Set(linkKindNames),
    action: 'strip',
    scans: (origin) => origin !== 'user' && origin !== 'system',
    allowed: [],
    ...overrides,
  });
}

export async function ask(rules: GuardRules, text: string, more: object = {}): Promise<Reply> {
  const { result } = await answer({ args: { text, ...more } }, rules);
  return Object(result);
}

export function kindsIn(rules: GuardRules, text: string, conversation: readonly string[] = []): string[] {
  const place = { origin: 'assistant', prefix: '', conversation: () => conversation } as const;
  return rules.find(text, place).findings.map(({ kind }) => kind);
}

export function injectionRules(): GuardRules {
  return createInjectionRules({ ...defaultThresholds, scans: () => true });
}
