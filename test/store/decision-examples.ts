import type { NewDecision, NewModelCall } from '../../src/store/decision-store.ts';

export function newDecision(members: Partial<NewDecision> = {}): NewDecision {
  return {
    ...{ hook: 'guard', dialect: 'signalbox', kind: 'tool', phase: 'before_execution', mode: 'filter' },
    ...{ verdict: 'allow', event: 'e1', reason: '', error: null, durationMs: 3 },
    ...{ operation: 'tool', operationId: 'op1', run: null, step: null, at: 1_000 },
    ...members,
  };
}

export function newModelCall(id: string, members: Partial<NewModelCall> = {}): NewModelCall {
  return {
    ...{ id, provider: 'mock', model: 'm', messages: [], answers: 0 },
    ...{ operation: 'model', operationId: `op-${id}`, run: 'r1', step: 'answer', at: 1_000 },
    ...members,
  };
}
