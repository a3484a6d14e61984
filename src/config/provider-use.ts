import { RuntimeError } from '../base/errors.ts';
import type { ProviderRole } from '../contract/provider.ts';
import type { ProviderConfig } from './config.ts';
import { toolNameRules } from './provider-types.ts';

type Declared = readonly Pick<ProviderConfig, 'id' | 'role'>[];

/** The default provider of a check: the one with the role's own id, or the only one. Throws PROVIDER_UNUSABLE. */
export function askedProvider(role: ProviderRole, declared: Declared): string {
  const { id, nobody, hint, another } = defaults[role];
  const able = declared.filter((each) => (each.role ?? 'llm') === role);
  const [only, other] = able;
  const chosen = able.find((each) => each.id === id) ?? (other === undefined ? only : undefined);
  if (chosen !== undefined) return chosen.id;
  if (only === undefined) throw new RuntimeError('PROVIDER_UNUSABLE', nobody, { hint });
  throw new RuntimeError('PROVIDER_UNUSABLE', another, {
    hint: `Name one in the param \`provider\`, or give one the id \`${id}\`.`,
  });
}

const defaults = {
  llm: {
    id: 'judge',
    nobody: 'no model can judge: no provider is declared',
    another: 'no model can judge: several providers are declared',
    hint: 'Declare one in spec.providers, such as {id: judge, type: openai, model: gpt-5-mini}.',
  },
  embedding: {
    id: 'embed',
    nobody: 'nothing can embed texts: no provider has the role embedding',
    another: 'nothing can embed texts: several providers have the role embedding',
    hint: 'Declare one in spec.providers, such as {id: embed, type: openai, model: text-embedding-3-small, role: embedding}.',
  },
} as const;

/** Also checks fallbacks. Undefined if no rule is known: a server behind `baseUrl` may have its own. */
export function whyToolNameRefused(
  tool: string,
  id: string,
  providers: readonly Pick<ProviderConfig, 'id' | 'type' | 'baseUrl' | 'fallback'>[],
): { readonly message: string; readonly hint: string } | undefined {
  const { fallback = [] } = providers.find((each) => each.id === id) ?? {};
  for (const asked of [id, ...fallback]) {
    const { type = '', baseUrl } = providers.find((each) => each.id === asked) ?? {};
    const rule = baseUrl === undefined ? toolNameRules.get(type) : undefined;
    if (rule === undefined || rule.pattern.test(tool)) continue;
    const message = `the provider ${asked} (${type}) refuses a tool named ${tool}`;
    return { message, hint: `Its tool names have ${rule.words}.` };
  }
  return undefined;
}
