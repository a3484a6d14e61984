import { type Action, actions } from '../../../src/builtins/pii/action.ts';
import { createDetector, type Detector } from '../../../src/builtins/pii/detector.ts';
import { defaultEntities, type Entity, entityNames } from '../../../src/builtins/pii/entity.ts';
import { createPiiFilter, type PiiFilter } from '../../../src/builtins/pii/filter.ts';
import type { PiiSettings } from '../../../src/builtins/pii/settings.ts';

/** Settings with one action for every entity and a fixed key. */
export function settings(action: Action = 'redact', overrides: Partial<PiiSettings> = {}): PiiSettings {
  return {
    entities: defaultEntities,
    actions: actionsOf(action),
    regions: ['US'],
    isAllowed: () => false,
    restore: new Set(['answer', 'args']),
    key: Buffer.alloc(32, 7),
    ...overrides,
  };
}

export function actionsOf(
  action: Action,
  overrides: Partial<Record<Entity, Action>> = {},
): Record<Entity, Action> {
  const rows = entityNames.map((entity) => [entity, overrides[entity] ?? action]);
  return Object.fromEntries(rows);
}

export function filter(action: Action = 'redact', overrides: Partial<PiiSettings> = {}): PiiFilter {
  return createPiiFilter(settings(action, overrides));
}

export function detector(entities: readonly Entity[] = defaultEntities): Detector {
  return createDetector(settings('redact', { entities }));
}

/** Findings as `ENTITY text`. */
export function found(text: string, entities: readonly Entity[] = defaultEntities): string[] {
  return detector(entities)(text).map(({ entity, start, end }) => `${entity} ${text.slice(start, end)}`);
}

export const everyAction = actions;

export function user(content: string) {
  return { role: 'user', content };
}

export function asking(messages: readonly object[], metadata: object = {}, systemPrompt = '') {
  return {
    hook: 'provider',
    phase: 'before_call',
    request: { messages, system_prompt: systemPrompt, metadata },
  };
}

export function answering(request: object, message: object) {
  return {
    hook: 'provider',
    phase: 'after_call',
    request,
    response: { message: { role: 'assistant', ...message } },
  };
}

export function executing(args: unknown, extra: object = {}) {
  return {
    hook: 'tool',
    phase: 'before_execution',
    request: { name: 'mail', args, call_id: 'call_1', ...extra },
  };
}

export function executed(content: unknown) {
  return {
    hook: 'tool',
    phase: 'after_execution',
    request: { name: 'mail', args: {}, call_id: 'call_1' },
    response: { name: 'mail', call_id: 'call_1', content, error: '' },
  };
}
